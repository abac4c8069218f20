/** Taking jobs, and waiting for some. */
import type { ClaimedJob, ClaimManyOptions, ClaimManyResult, JobStore } from "@jobwire/protocol"
import { Effect } from "effect"
import { claim as claimRow, claimAgain } from "../../core/Claim.ts"
import type { JobRow } from "../../core/JobRow.ts"
import { makeRoom } from "../../core/Page.ts"
import { promoteDue } from "../../core/Promote.ts"
import { apply } from "./Apply.ts"
import type { Engine, Unit } from "./Engine.ts"
import { jobBytes, jobRecord } from "./Records.ts"

// When very many jobs come due at once, others get their turn while they are promoted.
const mostAtOnce = 1000

export const claimMany = (engine: Engine): JobStore.Service["claimMany"] => {
  const attempt: JobStore.Service["claimMany"] = (options) =>
    Effect.flatMap(
      engine.write((unit) => claimIn(engine, unit, options)),
      (result) => (result === undefined ? Effect.andThen(Effect.yieldNow, attempt(options)) : Effect.succeed(result))
    )
  return attempt
}

/** One claim is many of them with one token: it gives a job, or says why not. */
export const oneOf =
  (many: JobStore.Service["claimMany"]): JobStore.Service["claim"] =>
  ({ lockDurationMs, names, queue, token }) =>
    Effect.map(many({ queue, names, tokens: [token], lockDurationMs }), ({ empty, jobs: [claimed] }) =>
      claimed !== undefined
        ? { _tag: "Claimed", job: claimed.job }
        : // Without a job there is what its claim said.
          { _tag: "Empty", ...(empty as Empty) }
    )

export const claim = (engine: Engine): JobStore.Service["claim"] => oneOf(claimMany(engine))

export const awaitWake =
  (engine: Engine): JobStore.Service["awaitWake"] =>
  (queues, wakeToken) =>
    engine.wake.awaitWake(queues, wakeToken)

type Empty = NonNullable<ClaimManyResult["empty"]>

/** The result of claims; `undefined` when more jobs are due than one unit promotes, and the best may be among the rest. */
const claimIn = (engine: Engine, unit: Unit, options: ClaimManyOptions): ClaimManyResult | undefined => {
  const { queue } = options
  const { more, promoted } = promote(unit, queue)
  const isPaused = unit.tables.pauses.has(queue)
  const { isEmpty, jobs } = more ? none : takeEach(unit, options, isPaused, engine.limits.pageBytes)
  // Whoever takes a promoted job needs no call; the takers of the others do, unless they could take nothing.
  if (!isPaused && promoted.length > 0) {
    const taken = new Set(jobs.map(({ job }) => job.id))
    for (const row of promoted) if (!taken.has(row.id)) unit.wakes.job(row.queue, row.name)
  }
  return more ? undefined : { jobs, empty: isEmpty ? empty(engine, unit, options) : undefined }
}

interface Taken {
  readonly jobs: ReadonlyArray<ClaimedJob>
  /** Whether there was nothing for a token. */
  readonly isEmpty: boolean
}

const none: Taken = { jobs: [], isEmpty: false }

/** Gives a job to each token, until there is none for one, or the next would make the answer too big. */
const takeEach = (unit: Unit, options: ClaimManyOptions, isPaused: boolean, bytes: number): Taken => {
  const { lockDurationMs, names, queue, tokens } = options
  const { jobs } = unit.tables
  const room = makeRoom({ length: tokens.length, bytes })
  // One job always fits, so it need not be measured.
  const sizeOf = tokens.length === 1 ? () => 0 : jobBytes
  const taken: Array<ClaimedJob> = []
  for (const token of tokens) {
    const held = jobs.heldBy(queue, token)
    const row = held ?? (isPaused ? undefined : jobs.firstWaiting(queue, names))
    if (row === undefined) return { jobs: taken, isEmpty: true }
    if (!room.takes(sizeOf(row))) break
    const claimed = held === undefined ? take(unit, row, token, lockDurationMs) : takeAgain(unit, row, lockDurationMs)
    taken.push({ token, job: jobRecord(claimed) })
  }
  return { jobs: taken, isEmpty: false }
}

const take = (unit: Unit, row: JobRow, token: string, lockDurationMs: number): JobRow =>
  apply(unit, row, { row: claimRow(row, token, lockDurationMs, unit.now) })

const takeAgain = (unit: Unit, held: JobRow, lockDurationMs: number): JobRow => {
  const again = claimAgain(held, lockDurationMs, unit.now)
  return again === held ? held : apply(unit, held, { row: again })
}

const promote = (unit: Unit, queue: string) => {
  const due = unit.tables.jobs.due(queue, unit.now, mostAtOnce + 1)
  const promoted = due.slice(0, mostAtOnce)
  for (const row of promoted) apply(unit, row, promoteDue(row))
  return { promoted, more: due.length > promoted.length }
}

// The token is taken while the unit looks: what commits later is later than the token, or not visible in its snapshot.
const empty = (engine: Engine, { tables }: Unit, { names, queue }: ClaimManyOptions): Empty => ({
  nextRunAt: tables.jobs.nextRunAt(queue, names),
  wakeToken: engine.wake.token(queue, names, tables.snapshot)
})
