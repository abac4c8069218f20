/** The wake-ups of one server for all stores of a database that it shares with others. */
import type { JobStoreError } from "@jobwire/protocol"
import { Clock, Duration, Effect, Latch, type Scope } from "effect"
import * as LiveClock from "../../../LiveClock.ts"
import type { Wake } from "../../wake/Wake.ts"
import type { Sessions } from "../Connections.ts"
import { driverFault, fromSql } from "../PostgresFault.ts"
import type { DatabaseOptions, PostgresOptions } from "../PostgresOptions.ts"
import { Fleet } from "./Fleet.ts"
import * as Line from "./Line.ts"
import * as Patrol from "./Patrol.ts"

/** The wake-ups of one store. */
export interface StoreWake extends Wake {
  /** The token of a claim for these names that found nothing in this snapshot: PostgreSQL's `pg_current_snapshot()`, as text. */
  readonly tokenAt: (snapshot: string, queue: string, names: ReadonlyArray<string>) => string
}

/** See the file. */
export interface PostgresWake {
  /** The wake-ups of the store with this number. */
  readonly store: (number: number) => StoreWake
  /** How many waits are parked, of all stores. */
  readonly parked: () => number
}

/** How it is set. */
export type WakeOptions = DatabaseOptions & Pick<PostgresOptions, "wakePollInterval">

// Servers hear of waiters that come and go so many milliseconds late, and of those that stay less long not at all.
const presenceMs = 100

const manyEvents = 10_000

const newId = (): string => crypto.randomUUID().replaceAll("-", "").slice(0, 12)

const storeWake = (fleet: Fleet, store: number): StoreWake => {
  const tokenAt: StoreWake["tokenAt"] = (snapshot, queue, names) => fleet.token(snapshot, queue, names)
  return {
    tokenAt,
    // A unit that runs without a snapshot only shows what it will want.
    token: (queue, names, snapshot = "") => (snapshot === "" ? "" : tokenAt(snapshot, queue, names)),
    notify: (events, transaction) => fleet.committed(store, events, transaction),
    awaitWake: (queues, token) => fleet.awaitWake(store, queues, token)
  }
}

/** The wake-ups of this server, whose looks use these sessions, for as long as the scope lives. */
export const make: (
  options: WakeOptions,
  sessions: Sessions
) => Effect.Effect<PostgresWake, JobStoreError, Scope.Scope> = Effect.fnUntraced(function* (options, sessions) {
  const intervalMs = Duration.toMillis(Duration.fromInputUnsafe(options.wakePollInterval ?? "5 seconds"))
  const clock = yield* Clock.Clock
  const toSpeak = yield* Latch.make()
  const toTell = yield* Latch.make()
  const lookNow = yield* Latch.make()
  const fleet = new Fleet({
    id: newId(),
    silentForMs: 3 * intervalMs + 1000,
    manyEvents,
    random: Math.random,
    now: () => LiveClock.clock.currentTimeMillisUnsafe(),
    onOutgoing: () => toSpeak.openUnsafe(),
    onPresence: () => toTell.openUnsafe()
  })
  const line = yield* Effect.mapError(
    Line.make(options, fleet, toSpeak, () => lookNow.openUnsafe()),
    (error) => (error._tag === "SqlError" ? fromSql(error) : driverFault(error.message, true))
  )
  yield* Effect.forkScoped(Patrol.walk({ fleet, line, sessions, clock, intervalMs, now: lookNow }))
  yield* Effect.forkScoped(
    toTell.await.pipe(
      Effect.andThen(LiveClock.sleep(presenceMs)),
      Effect.andThen(
        Effect.sync(() => {
          toTell.closeUnsafe()
          fleet.tellPresence()
        })
      ),
      Effect.forever
    )
  )
  return { store: (number) => storeWake(fleet, number), parked: () => fleet.parked }
})
