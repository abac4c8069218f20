/**
 * The line by which a server hears the others and speaks to them: one connection of its own, which listens on the channel that has the
 * name of the schema. When it is lost it is made anew, for as long as the scope lives.
 */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Data, Deferred, Effect, Exit, Latch, Queue, Random, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as LiveClock from "../../../LiveClock.ts"
import { life } from "../Connections.ts"
import { textOf } from "../PostgresFault.ts"
import { type DatabaseOptions, defaultSchema } from "../PostgresOptions.ts"
import type { Fleet } from "./Fleet.ts"
import { parse, type Snapshot } from "./Snapshot.ts"

/** See the file. */
export interface Line {
  readonly channel: string
  /** Something is to be said. */
  readonly speak: () => void
  /** Gives up a connection by which nothing is heard any more. */
  readonly hangUp: () => void
}

/** What was said did not come back, or took too long. */
class SilentLine extends Data.TaggedError("SilentLine")<{ readonly message: string }> {}

// A lost notification costs a little time, never a job: so it need not wait for the disk.
const prepare = "select set_config('search_path', $1, false), set_config('synchronous_commit', 'off', false)"

// A database that was started anew, or is another one with the same contents, numbers its transactions in its own way.
const whereabouts = `select origin || '-' || ${life}, pg_current_snapshot()::text from origin`

const tell = "select count(pg_notify($1, payload)), pg_current_snapshot()::text from unnest($2::text[]) payload"

// After a statement the next one waits so many milliseconds, and takes with it what has come by then; longer when nobody is known to
// listen.
const pauseMs = 4
const pauseAloneMs = 25

const longestDelayMs = 5_000

interface Wires extends Line {
  readonly fleet: Fleet
  readonly toSpeak: Latch.Latch
  readonly toHangUp: Latch.Latch
  /** Said, and not known to have arrived. */
  unsure: ReadonlyArray<string>
}

const snapshotOf = (value: unknown): Snapshot => {
  const snapshot = parse(String(value))
  if (snapshot === undefined) throw new Error(`PostgreSQL gave ${JSON.stringify(value)} for a snapshot`)
  return snapshot
}

const connect = Effect.fnUntraced(function* ({ url }: DatabaseOptions, wires: Wires) {
  const { channel, fleet } = wires
  const made = yield* PgConnection.make({ url, applicationName: "jobwire listener", keepAlive: "30 seconds" })
  const connection = yield* made.pin
  yield* connection.queryValues(prepare, [`"${channel}"`])
  const notifications = yield* connection.listen(channel)
  // What was told before the connection listened is visible in this snapshot.
  const [row] = yield* connection.queryValues(whereabouts)
  wires.toHangUp.closeUnsafe()
  fleet.connected(String(row?.[0]), snapshotOf(row?.[1]))
  yield* Effect.addFinalizer((exit) =>
    Exit.hasInterrupts(exit)
      ? Effect.ignore(Effect.timeout(say(connection, wires, fleet.farewell()), "1 second"))
      : Effect.void
  )
  return { connection, notifications }
})

const hear = (
  notifications: Queue.Dequeue<PgConnection.Notification, SqlError>,
  { fleet, toSpeak }: Wires
): Effect.Effect<never, SqlError> =>
  Effect.forever(
    Effect.map(Queue.takeAll(notifications), (heard) => {
      for (const { payload } of heard) fleet.heard(payload)
      if (fleet.isFull) toSpeak.openUnsafe()
    })
  )

/** Says this, and what is not known to have arrived; learns how far the database has come. */
const say = Effect.fnUntraced(function* (
  connection: PgConnection.PgConnection,
  wires: Wires,
  payloads: ReadonlyArray<string>
) {
  wires.unsure = [...wires.unsure, ...payloads]
  const [row] = yield* connection.queryValues(tell, [wires.channel, wires.unsure])
  wires.unsure = []
  wires.fleet.settle(snapshotOf(row?.[1]))
})

const tooLong = Effect.suspend(() => new SilentLine({ message: "a notification took more than ten seconds" }))

/** Says what there is to be said: at once when there was nothing for a while, and what comes meanwhile together. */
const speak = (connection: PgConnection.PgConnection, wires: Wires): Effect.Effect<never, SqlError | SilentLine> => {
  const { fleet, toSpeak } = wires
  const once = Effect.suspend(() => {
    toSpeak.closeUnsafe()
    const payloads = fleet.take()
    if (payloads.length + wires.unsure.length === 0 && !fleet.isFull) return Effect.void
    return say(connection, wires, payloads).pipe(
      Effect.timeoutOrElse({ duration: "10 seconds", orElse: () => tooLong }),
      Effect.andThen(Effect.suspend(() => LiveClock.sleep(fleet.isAlone ? pauseAloneMs : pauseMs)))
    )
  })
  return Effect.forever(Effect.andThen(toSpeak.await, once))
}

/** One connection, from its making until it is lost. */
const callOnce = Effect.fnUntraced(function* (
  options: DatabaseOptions,
  wires: Wires,
  onConnected: Effect.Effect<unknown>
) {
  const { connection, notifications } = yield* connect(options, wires)
  yield* onConnected
  const hungUp = Effect.andThen(wires.toHangUp.await, new SilentLine({ message: "nothing was heard by it any more" }))
  return yield* Effect.raceAllFirst([hear(notifications, wires), speak(connection, wires), hungUp])
}, Effect.scoped)

const warn = (error: SqlError | SilentLine): Effect.Effect<void> =>
  Effect.logWarning(
    "the connection by which this server hears of jobs at other servers was lost, and is made anew: " +
      `${error._tag === "SilentLine" ? error.message : textOf(error)}. Until then its waits may end late`
  )

/** Calls again and again. Two calls that fail are a random part of a growing time apart, so that no two servers come together. */
const callAlways = Effect.fnUntraced(function* (
  options: DatabaseOptions,
  wires: Wires,
  first: Deferred.Deferred<void, SqlError | SilentLine>,
  onGap: () => void
) {
  let failures = 0
  while (true) {
    const onConnected = Effect.suspend(() => {
      if (failures > 0) onGap()
      failures = 0
      return Deferred.succeed(first, undefined)
    })
    const failure = yield* Effect.flip(callOnce(options, wires, onConnected))
    if (yield* Deferred.fail(first, failure)) return
    if (failures === 0) yield* warn(failure)
    const part = yield* Random.next
    yield* LiveClock.sleep(part * Math.min(longestDelayMs, 200 * 2 ** failures++))
  }
})

/** The line of a fleet, once it is there. `onGap` is told when it is there again: what was said meanwhile was not heard. */
export const make: (
  options: DatabaseOptions,
  fleet: Fleet,
  toSpeak: Latch.Latch,
  onGap: () => void
) => Effect.Effect<Line, SqlError | SilentLine, Scope.Scope> = Effect.fnUntraced(function* (
  options,
  fleet,
  toSpeak,
  onGap
) {
  const toHangUp = yield* Latch.make()
  const wires: Wires = {
    channel: options.schema ?? defaultSchema,
    speak: () => toSpeak.openUnsafe(),
    hangUp: () => toHangUp.openUnsafe(),
    fleet,
    toSpeak,
    toHangUp,
    unsure: []
  }
  const first = yield* Deferred.make<void, SqlError | SilentLine>()
  yield* Effect.forkScoped(callAlways(options, wires, first, onGap))
  yield* Deferred.await(first)
  return wires
}, LiveClock.withLive)
