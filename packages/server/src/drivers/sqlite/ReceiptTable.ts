/** Receipts by key. */
import type { DatabaseSync } from "node:sqlite"
import type { ReceiptTable } from "../embedded/Tables.ts"
import { prepare } from "./Statement.ts"
import type { StoreState } from "./StoreState.ts"

/** The statements that find receipts; exported for the test that reads their plans. */
export const findReceipts = {
  get: "select body, answer, expires_at from receipt where store = ? and key = ?",
  expired: "select key from receipt where store = ? and expires_at <= ? order by expires_at limit ?"
} as const

/** Prepares the statements once; answers what makes the table of a store. */
export const prepareReceipts = (db: DatabaseSync): ((store: StoreState) => ReceiptTable) => {
  const get = prepare<[body: string, answer: string, expiresAt: number]>(db, findReceipts.get)
  const put = prepare(
    db,
    `insert into receipt (store, key, body, answer, expires_at) values (?, ?, ?, ?, ?)
    on conflict (store, key) do update set body = excluded.body, answer = excluded.answer, expires_at = excluded.expires_at`
  )
  const remove = prepare(db, "delete from receipt where store = ? and key = ?")
  const expired = prepare<[string]>(db, findReceipts.expired)
  return (store) => ({
    get: (key) => {
      const found = get.get(store.id, key)
      return found === undefined ? undefined : { key, body: found[0], answer: found[1], expiresAt: found[2] }
    },
    put: ({ answer, body, expiresAt, key }) => void put.run(store.id, key, body, answer, expiresAt),
    delete: (key) => void remove.run(store.id, key),
    expired: (now, limit) => expired.all(store.id, now, limit).map(([key]) => key)
  })
}
