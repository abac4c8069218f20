/** The ledger: one row a run. */
import type { DatabaseSync } from "node:sqlite"
import type { AttemptRow } from "../../core/JobRow.ts"
import type { AttemptTable } from "../embedded/Tables.ts"
import { acks, outcomes } from "../columns/Codes.ts"
import { prepare } from "./Statement.ts"
import type { StoreState } from "./StoreState.ts"

type AttemptTuple = [
  attempt: number,
  startedAt: number | null,
  finishedAt: number,
  outcome: number,
  token: string | null,
  acked: number | null,
  exit: string | null
]

const columns = "attempt, started_at, finished_at, outcome, token, acked, exit"

/** The statements that find entries; exported for the test that reads their plans. */
export const findAttempts = {
  list: `select ${columns} from attempt where store = ? and seq = ? order by attempt`,
  byToken: `
    select ${columns} from attempt
    where store = ? and seq = ? and token = ? and acked is not null order by attempt desc limit 1`
} as const

const decode = (tuple: AttemptTuple): AttemptRow => ({
  attempt: tuple[0],
  startedAt: tuple[1] ?? undefined,
  finishedAt: tuple[2],
  outcome: outcomes.word(tuple[3]),
  token: tuple[4] ?? undefined,
  acked: tuple[5] === null ? undefined : acks.word(tuple[5]),
  exit: tuple[6] ?? undefined
})

/** Prepares the statements once; answers what makes the table of a store. */
export const prepareAttempts = (db: DatabaseSync): ((store: StoreState) => AttemptTable) => {
  const append = prepare(db, `insert into attempt (store, seq, ${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const list = prepare<AttemptTuple>(db, findAttempts.list)
  const byToken = prepare<AttemptTuple>(db, findAttempts.byToken)
  return (store) => ({
    append: (job, row) => {
      append.run(
        store.id,
        job.seq,
        row.attempt,
        row.startedAt ?? null,
        row.finishedAt,
        outcomes.code(row.outcome),
        row.token ?? null,
        row.acked === undefined ? null : acks.code(row.acked),
        row.exit ?? null
      )
    },
    list: (job) => list.all(store.id, job.seq).map(decode),
    byToken: (job, token) => {
      const tuple = byToken.get(store.id, job.seq, token)
      return tuple === undefined ? undefined : decode(tuple)
    }
  })
}
