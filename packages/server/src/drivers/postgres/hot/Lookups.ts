/**
 * Rows by their keys, as SQL whose way is certain. Plans are made when tables are empty and kept while they grow; to a planner that
 * believes a table small any index is as good as another, also one that leads to all rows of a store. So a key is asked for as the
 * first from there on: only one index has that order.
 */

/** The job of this number, which is there, as a table. */
export const jobBySeq = (store: string, seq: string, columns = "*"): string =>
  `(select ${columns} from job j where j.store = ${store} and j.seq >= ${seq} order by j.seq limit 1)`

/** The number of the job with this id; null when there is none. */
export const seqById = (store: string, id: string): string => `(
  select case when j.id = ${id} then j.seq end
  from (select j.id, j.seq from job j where j.store = ${store} and j.id >= ${id} order by j.id limit 1) j
)`

/** Whether the token holds a job of the store. */
export const isHeld = (store: string, token: string, active: number): string => `(
  ${token} = (
    select l.token from live l where l.store = ${store} and l.state = ${active} and l.token >= ${token} order by l.token limit 1
  )
) is true`

/** Whether there is a receipt with this key. */
export const receiptIs = (store: string, key: string): string => `(
  ${key} = (select r.key from receipt r where r.store = ${store} and r.key >= ${key} order by r.key limit 1)
) is true`
