/** Putting jobs in by statements that all callers of a server share. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect, Result, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { JobRow } from "../../../core/JobRow.ts"
import * as LiveClock from "../../../LiveClock.ts"
import type { WakeEvent } from "../../wake/Wakes.ts"
import type { Session, Sessions } from "../Connections.ts"
import * as LaneNumbers from "../LaneNumbers.ts"
import { isConnectionLost } from "../PostgresFault.ts"
import { again } from "../unit/Outcome.ts"
import * as EnqueueStatement from "./EnqueueStatement.ts"
import type { HotSettings } from "./HotSettings.ts"
import type { HotStore } from "./HotStore.ts"
import { faultOf } from "./Repeatable.ts"
import * as Sharing from "./Sharing.ts"

/** New jobs of one caller, in order. */
export interface NewJobs {
  readonly store: HotStore
  readonly jobs: ReadonlyArray<JobRow>
  /** Whether the store itself has drawn the id of each, so that nobody else can have given it. */
  readonly isOwn: ReadonlyArray<boolean>
}

/**
 * Whether each job went in: where its id is taken, nothing changes. Nor where a job of its id was deleted a short time ago, which
 * `undefined` says: what is remembered of that one decides.
 */
export interface Enqueue {
  (jobs: NewJobs): Effect.Effect<ReadonlyArray<boolean | undefined>, JobStoreError>
}

type Answer = Result.Result<ReadonlyArray<boolean | undefined>, JobStoreError>

// A value of so many characters weighs as much as a job without one.
const lightValue = 16_384

const weightOf = ({ jobs }: NewJobs): number =>
  jobs.reduce((weight, { payload }) => weight + 1 + Math.floor((payload?.length ?? 0) / lightValue), 0)

/** See the file; for as long as the scope lives. */
export const make = (sessions: Sessions, settings: HotSettings): Effect.Effect<Enqueue, never, Scope.Scope> =>
  Effect.map(
    Sharing.make<NewJobs, Answer>({
      atOnce: settings.enqueuesAtOnce,
      mostWeight: settings.most,
      weightOf,
      run: (callers) => LiveClock.withLive(new EnqueueRun(sessions, callers).run)
    }),
    (share) => (jobs) => Effect.flatMap(share(jobs), Effect.fromResult)
  )

/** One statement on its way. */
class EnqueueRun {
  readonly #sessions: Sessions
  readonly #callers: ReadonlyArray<NewJobs>
  /** A connection was lost when the statement was sent, so that an earlier try may have put the jobs in. */
  #lost: SqlError | undefined

  constructor(sessions: Sessions, callers: ReadonlyArray<NewJobs>) {
    this.#sessions = sessions
    this.#callers = callers
  }

  get run(): Effect.Effect<ReadonlyArray<Answer>, JobStoreError> {
    return this.#sessions
      .use((session) => Effect.andThen(this.#ensureLanes(session), this.#insert(session)))
      .pipe(
        Effect.retry(again),
        Effect.mapError((error) => faultOf(error, this.#lost !== undefined)),
        Effect.map((enqueued) => this.#answers(enqueued))
      )
  }

  #ensureLanes(session: Session): Effect.Effect<void, SqlError> {
    return Effect.forEach(
      Map.groupBy(this.#callers, ({ store }) => store),
      ([{ lanes, number }, callers]) => {
        const unknown = lanes.unknown(callers.flatMap(({ jobs }) => jobs))
        if (unknown.length === 0) return Effect.void
        return Effect.map(LaneNumbers.make(session, number, unknown), (made) => {
          for (const [key, lane] of made) lanes.learn(key, lane)
        })
      },
      { discard: true }
    )
  }

  #insert(session: Session): Effect.Effect<EnqueueStatement.Enqueued, SqlError> {
    return Effect.suspend(() => {
      const jobs = this.#callers.flatMap(({ jobs, store }) =>
        jobs.map((job): EnqueueStatement.NewJob => ({ store: store.number, lane: store.lanes.get(job), job }))
      )
      const isOwn = this.#lost === undefined && this.#callers.every((caller) => caller.isOwn.every(Boolean))
      return session
        .run(isOwn ? EnqueueStatement.sqlOfOwn : EnqueueStatement.sqlOfAny, EnqueueStatement.parameters(jobs))
        .pipe(
          Effect.map(EnqueueStatement.decode),
          Effect.tapError((error) => Effect.sync(() => (this.#lost = isConnectionLost(error) ? error : this.#lost)))
        )
    })
  }

  /** Tells each caller, and wakes the takers. */
  #answers({ isNew, transaction }: EnqueueStatement.Enqueued): ReadonlyArray<Answer> {
    const wakes = new Map<HotStore, Array<JobRow>>()
    let first = 0
    const answers = this.#callers.map(({ isOwn, jobs, store }) => {
      // An id of the store's own that is taken was given by an earlier try.
      const went = jobs.map((_, index) => (isOwn[index] === true ? true : isNew(first + index)))
      first += jobs.length
      const woken = wakes.get(store) ?? []
      wakes.set(store, woken)
      woken.push(...jobs.filter((_, index) => went[index] === true))
      // Whether another caller or an earlier try gave the id, nobody knows.
      const isUnknown = this.#lost !== undefined && went.includes(false)
      return isUnknown && this.#lost !== undefined ? Result.fail(faultOf(this.#lost, true)) : Result.succeed(went)
    })
    for (const [store, jobs] of wakes) if (jobs.length > 0) store.wake.notify(eventsOf(jobs), transaction)
    return answers
  }
}

/** One event a queue and name. */
const eventsOf = (jobs: ReadonlyArray<JobRow>): ReadonlyArray<WakeEvent> => {
  const events = new Map<string, WakeEvent>()
  for (const { name, queue } of jobs) {
    const key = JSON.stringify([queue, name])
    events.set(key, { queue, name, count: (events.get(key)?.count ?? 0) + 1 })
  }
  return Array.from(events.values())
}
