/** Delayed jobs whose time has come, for concurrent callers at once. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Session, Sessions } from "../Connections.ts"
import * as PromoteStatement from "./PromoteStatement.ts"
import type { DueQueue, Promoted } from "./PromoteStatement.ts"
import { repeatable } from "./Repeatable.ts"
import * as Sharing from "./Sharing.ts"

/** What became of a queue's jobs that were due. */
export interface Promotion {
  /** Whether there were any that nobody else had locked. */
  readonly hasPromoted: boolean
  /** Those whose takers are the caller's to wake: of several callers for one queue one has them all. */
  readonly promoted: ReadonlyArray<Promoted>
}

/** Promotes what is due in the queue. Takers who are not told because a connection was lost are found by the patrol. */
export interface Promote {
  (queue: DueQueue): Effect.Effect<Promotion, JobStoreError>
}

const keyOf = ({ queue, store }: DueQueue): string => JSON.stringify([store, queue])

/** Each queue once, by the latest time at which somebody has asked. */
const distinct = (queues: ReadonlyArray<DueQueue>): ReadonlyArray<DueQueue> =>
  Array.from(Map.groupBy(queues, keyOf).values(), (same) =>
    same.reduce((latest, queue) => (queue.now > latest.now ? queue : latest))
  )

/** Portion by portion, so that others get their turn in between. */
const promoteAll = Effect.fnUntraced(function* (
  session: Session,
  queues: ReadonlyArray<DueQueue>,
  promoted: Map<string, Array<Promoted>>
): Effect.fn.Return<void, SqlError> {
  let left = queues
  while (left.length > 0) {
    const portions = PromoteStatement.decode(
      yield* session.run(PromoteStatement.sql, PromoteStatement.parameters(left))
    )
    for (const [position, jobs] of portions) {
      const queue = left[position]
      if (queue !== undefined) promoted.get(keyOf(queue))?.push(...jobs)
    }
    left = left.filter((_, position) => portions.get(position)?.length === PromoteStatement.mostAtOnce)
  }
})

/** See the file; for as long as the scope lives. */
export const make = (sessions: Sessions): Effect.Effect<Promote, never, Scope.Scope> =>
  Sharing.make<DueQueue, Promotion>({
    atOnce: 1,
    mostWeight: 100,
    run: (callers) => {
      const queues = distinct(callers)
      const promoted = new Map(queues.map((queue): [string, Array<Promoted>] => [keyOf(queue), []]))
      return Effect.map(
        repeatable(sessions, (session) => promoteAll(session, queues, promoted)),
        () => callers.map((caller, position) => promotionOf(caller, callers.slice(0, position), promoted))
      )
    }
  })

const promotionOf = (
  caller: DueQueue,
  before: ReadonlyArray<DueQueue>,
  promoted: ReadonlyMap<string, ReadonlyArray<Promoted>>
): Promotion => {
  const key = keyOf(caller)
  const jobs = promoted.get(key) ?? []
  return {
    hasPromoted: jobs.length > 0,
    promoted: before.some((other) => keyOf(other) === key) ? [] : jobs
  }
}
