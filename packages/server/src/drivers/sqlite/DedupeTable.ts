/** Dedupe keys by name and key. */
import type { DatabaseSync } from "node:sqlite"
import type { DedupeRow } from "../../core/JobRow.ts"
import type { DedupeTable } from "../embedded/Tables.ts"
import { inChunks } from "../embedded/Chunks.ts"
import { prepare } from "./Statement.ts"
import type { StoreState } from "./StoreState.ts"

type DedupeTuple = [name: string, key: string, jobId: string, expiresAt: number | null]

const decode = ([name, key, jobId, expiresAt]: DedupeTuple): DedupeRow => ({
  name,
  key,
  jobId,
  expiresAt: expiresAt ?? undefined
})

/** The statements that find keys; exported for the test that reads their plans. */
export const findDedupes = {
  get: "select name, key, job_id, expires_at from dedupe where store = ? and name = ? and key = ?",
  chunk: `
    select name, key, job_id, expires_at from dedupe
    where store = ? and (name, key) > (?, ?) order by name, key limit ?`
} as const

/** Prepares the statements once; answers what makes the table of a store. */
export const prepareDedupes = (db: DatabaseSync): ((store: StoreState) => DedupeTable) => {
  const get = prepare<DedupeTuple>(db, findDedupes.get)
  const chunk = prepare<DedupeTuple>(db, findDedupes.chunk)
  const put = prepare(
    db,
    `insert into dedupe (store, name, key, job_id, expires_at) values (?, ?, ?, ?, ?)
     on conflict (store, name, key) do update set job_id = excluded.job_id, expires_at = excluded.expires_at`
  )
  const remove = prepare(db, "delete from dedupe where store = ? and name = ? and key = ?")
  return (store) => ({
    get: (name, key) => {
      const tuple = get.get(store.id, name, key)
      return tuple === undefined ? undefined : decode(tuple)
    },
    put: (row) => {
      put.run(store.id, row.name, row.key, row.jobId, row.expiresAt ?? null)
    },
    delete: (name, key) => {
      remove.run(store.id, name, key)
    },
    all: function* () {
      const tuples = inChunks<DedupeTuple>((after, limit) =>
        chunk.all(store.id, after?.[0] ?? "", after?.[1] ?? "", limit)
      )
      for (const tuple of tuples) yield decode(tuple)
    }
  })
}
