/** Queues that are paused. */
import type { DatabaseSync } from "node:sqlite"
import type { PauseTable } from "../embedded/Tables.ts"
import { prepare } from "./Statement.ts"
import type { StoreState } from "./StoreState.ts"

/** Prepares the statements once; answers what makes the table of a store. */
export const preparePauses = (db: DatabaseSync): ((store: StoreState) => PauseTable) => {
  const has = prepare<[number]>(db, "select 1 from pause where store = ? and queue = ?")
  const add = prepare(db, "insert into pause (store, queue) values (?, ?) on conflict (store, queue) do nothing")
  const remove = prepare(db, "delete from pause where store = ? and queue = ?")
  const list = prepare<[string]>(db, "select queue from pause where store = ? order by queue")
  return (store) => ({
    has: (queue) => has.get(store.id, queue) !== undefined,
    add: (queue) => add.run(store.id, queue).changes === 1,
    delete: (queue) => remove.run(store.id, queue).changes === 1,
    list: () => list.all(store.id).map(([queue]) => queue)
  })
}
