/**
 * The storage of one store and server. Units that may write: one transaction at a time, which takes all that have come meanwhile.
 * Units that only read: each for itself.
 */
import type { JobStoreError } from "@jobwire/protocol"
import { Cause, Effect, Exit, Option, type Scope } from "effect"
import * as LiveClock from "../../../LiveClock.ts"
import * as Batcher from "../../batch/Batcher.ts"
import type { Committed, Storage } from "../../embedded/Storage.ts"
import type { Tables } from "../../embedded/Tables.ts"
import type { Sessions } from "../Connections.ts"
import { driverFault, fromSql } from "../PostgresFault.ts"
import { runUntilKnown } from "./Outcome.ts"
import { read } from "./ReadTransaction.ts"
import type { Work } from "./Turns.ts"
import type { CommittedUnits, UnitStore } from "./UnitTransaction.ts"

// What one transaction takes at most.
const mostUnits = 128

type Answer = Exit.Exit<Committed<unknown>, JobStoreError>

const answersOf = ({ exits, transaction }: CommittedUnits): ReadonlyArray<Answer> =>
  exits.map((exit) => Exit.map(exit, (answer) => ({ answer, transaction })))

/** Runs units together; where one of them may be why that failed, each by itself, so that the others lose nothing by it. */
const runAll = Effect.fnUntraced(function* (
  sessions: Sessions,
  store: UnitStore,
  works: ReadonlyArray<Work>
): Effect.fn.Return<ReadonlyArray<Answer>> {
  const exit = yield* Effect.exit(runUntilKnown(sessions, store, works))
  if (Exit.isSuccess(exit)) {
    const answers = answersOf(exit.value)
    const rest = works.slice(answers.length)
    return rest.length === 0 ? answers : [...answers, ...(yield* runAll(sessions, store, rest))]
  }
  const isOfUnits = Option.match(Exit.findErrorOption(exit), {
    onNone: () => true,
    onSome: (failure) => failure.isOfUnits
  })
  if (isOfUnits && works.length > 1) {
    return (yield* Effect.forEach(works, (work) => runAll(sessions, store, [work]))).flat()
  }
  const answer = Exit.failCause(Cause.map(exit.cause, ({ fault }) => fault))
  return works.map(() => answer)
})

/** Where units run: pipelined sessions for those that may write, any for those that only read. */
export interface UnitSessions {
  readonly write: Sessions
  readonly read: Sessions
}

/** The storage, for as long as the scope lives; what waits when it closes is carried out. */
export const make: (sessions: UnitSessions, store: UnitStore) => Effect.Effect<Storage, never, Scope.Scope> =
  Effect.fnUntraced(function* (sessions, store) {
    const batcher = yield* Batcher.make<Work, Answer, JobStoreError>({
      atOnce: 1,
      mostWeight: mostUnits,
      run: (works) => LiveClock.withLive(runAll(sessions.write, store, works)),
      refusal: () => driverFault("the stores of this database are closed: their layer's scope has ended", false)
    })
    return {
      write: <A>(work: (tables: Tables) => A) =>
        // What answers a caller is what its own work gave.
        Effect.flatten(batcher.submit(work) as Effect.Effect<Exit.Exit<Committed<A>, JobStoreError>, JobStoreError>),
      read: <A>(work: (tables: Tables) => A) =>
        LiveClock.withLive(read(sessions.read, store, work)).pipe(
          Effect.mapError(fromSql),
          Effect.flatMap((exit) => exit as Exit.Exit<A, JobStoreError>)
        )
    }
  })
