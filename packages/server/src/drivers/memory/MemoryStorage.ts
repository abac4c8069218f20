/** Units of work on tables in memory. */
import { Effect } from "effect"
import type { Storage } from "../embedded/Storage.ts"
import type { Tables } from "../embedded/Tables.ts"

/** A unit is one synchronous step, so nobody sees half of it; and it writes only after it has decided. */
export const memoryStorage = (tables: Tables): Storage => ({
  write: (work) => Effect.sync(() => ({ answer: work(tables) })),
  read: (work) => Effect.sync(() => work(tables))
})
