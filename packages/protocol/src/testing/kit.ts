/**
 * What the files of the suite share: a fresh store for every test, requests and claims with defaults, and assertions that
 * say which job, in which state, and what was expected instead.
 *
 * A store may be far away. So a test trusts answers only: what it forked may arrive late, and to show that something does
 * not happen it lets something else happen first.
 */
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit, type Fiber, type Layer, Option, type Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Ack, AckOutcome, AckResult, ClaimManyOptions, ClaimOptions, ClaimResult } from "../Claim.ts"
import { EnqueueRequest } from "../Enqueue.ts"
import type { JobNotFoundError, JobStoreError, JobStoreErrorReason, LockLostError } from "../Errors.ts"
import type { AttemptRecord, JobRecord, TerminalState } from "../Job.ts"
import * as JobStore from "../JobStore.ts"
import type { DedupePolicy } from "../Policy.ts"

/** The operations of the store under test. */
export type Store = JobStore.Service

/** Registers a test under the rule that it proves. Each test has a store of its own, and time stands at {@link start}. */
export interface Test {
  (rule: string, body: (store: Store) => Effect.Effect<void, unknown, Scope.Scope>, timeoutMs?: number): void
}

/** When every test begins, in epoch milliseconds: a moment like those a store sees in use. */
export const start = Date.UTC(2025, 5, 1)

/** Tests against fresh stores of a layer. */
export const testWith =
  <E>(layer: () => Layer.Layer<JobStore.JobStore, E>): Test =>
  (rule, body, timeoutMs) =>
    it.effect(
      rule,
      () =>
        Effect.andThen(
          TestClock.setTime(start),
          Effect.provide(Effect.scoped(Effect.flatMap(JobStore.JobStore, body)), layer(), { local: true })
        ),
      timeoutMs
    )

/** Lets time pass. */
export const pass = (ms: number): Effect.Effect<void> => TestClock.adjust(ms)

let drawn = 0

/** A name that no other call has given, for ids, tokens and keys. */
export const unique = (prefix: string): string => `${prefix}-${++drawn}`

/** The queue and the name of jobs that no test cares about. */
export const queue = "queue"
export const name = "job"

/** A request to enqueue; what is not given is as plain as can be. */
export const request = (fields?: Partial<EnqueueRequest>): EnqueueRequest =>
  EnqueueRequest.make({ name, queue, payload: { n: 1 }, ...fields })

/** A dedupe policy: plain, and held while the job is pending, unless said otherwise. */
export const dedupe = (key: string, fields?: Partial<DedupePolicy>): DedupePolicy => ({
  key,
  ttlMs: undefined,
  extend: false,
  replace: false,
  ...fields
})

/** Options of a claim, with a token that was never used. */
export const claimOptions = (fields?: Partial<ClaimOptions>): ClaimOptions => ({
  queue,
  names: [name],
  token: unique("token"),
  lockDurationMs: 30_000,
  ...fields
})

/** Options of many claims, with three tokens that were never used. */
export const claimManyOptions = (fields?: Partial<ClaimManyOptions>): ClaimManyOptions => ({
  queue,
  names: [name],
  tokens: tokens(3),
  lockDurationMs: 30_000,
  ...fields
})

/** So many tokens that were never used. */
export const tokens = (length: number): ReadonlyArray<string> => Array.from({ length }, () => unique("token"))

/** Ways to end a run. */
export const complete = (exit?: unknown): AckOutcome => ({ _tag: "Complete", exit })
export const fail = (exit?: unknown): AckOutcome => ({ _tag: "Fail", exit })
export const again = (delayMs = 0, exit?: unknown): AckOutcome => ({ _tag: "Retry", delayMs, exit })
export const cancelled: AckOutcome = { _tag: "Cancelled" }

/** Enqueues a job that must be new, and gives its id. */
export const add = Effect.fnUntraced(function* (store: Store, fields?: Partial<EnqueueRequest>) {
  const result = yield* store.enqueue(request(fields))
  assert.isFalse(result.duplicate, `enqueue answered that job ${result.id} is a duplicate`)
  return result.id
})

/** Jobs with these ids in this order. */
export const addAll = (store: Store, ids: ReadonlyArray<string>, fields?: Partial<EnqueueRequest>) =>
  Effect.forEach(ids, (id) => add(store, { ...fields, id }))

/** A job that the test holds: the record as it was claimed, and the token. */
export interface Held {
  readonly id: string
  readonly token: string
  readonly job: JobRecord
}

/** Claims, which must give a job. */
export const take = Effect.fnUntraced(function* (store: Store, fields?: Partial<ClaimOptions>) {
  const options = claimOptions(fields)
  const result = yield* store.claim(options)
  if (result._tag === "Empty") return assert.fail(`claim found no job: ${JSON.stringify({ ...options, ...result })}`)
  const held: Held = { id: result.job.id, token: options.token, job: result.job }
  return held
})

/** Claims, which must give nothing. */
export const takeNothing = Effect.fnUntraced(function* (store: Store, fields?: Partial<ClaimOptions>) {
  const result = yield* store.claim(claimOptions(fields))
  if (result._tag === "Claimed") return assert.fail(`claim gave job ${result.job.id}, and none was to be had`)
  return result satisfies ClaimResult
})

/** Claims until nothing is left, and gives the ids in the order of the claims. */
export const takeAll = Effect.fnUntraced(function* (store: Store, fields?: Partial<ClaimOptions>) {
  const ids: Array<string> = []
  while (true) {
    const result = yield* store.claim(claimOptions(fields))
    if (result._tag === "Empty") return ids
    ids.push(result.job.id)
  }
})

/** Claims by many tokens at once, and gives what they hold; the whole answer is beside. */
export const takeMany = Effect.fnUntraced(function* (store: Store, fields?: Partial<ClaimManyOptions>) {
  const answer = yield* store.claimMany(claimManyOptions(fields))
  const held = answer.jobs.map(({ job, token }): Held => ({ id: job.id, token, job }))
  return { held, ids: held.map(({ id }) => id), empty: answer.empty, answer }
})

/** An ack by the token that holds the job. */
export const ackOf = ({ id, token }: Held, outcome: AckOutcome = complete()): Ack => ({ id, token, outcome })

/** An ack that is made beside another one, and succeeds or fails as its result says. */
export const ackBeside = (
  store: Store,
  id: string,
  token: string,
  outcome: AckOutcome
): Effect.Effect<void, JobStoreError | JobNotFoundError | LockLostError> =>
  Effect.flatMap(
    store.ackMany([
      { id: "nobody's", token, outcome: cancelled },
      { id, token, outcome }
    ]),
    ([, result]) =>
      result === undefined
        ? Effect.die("ackMany gave no result for its second ack")
        : result._tag === "Acked"
          ? Effect.void
          : Effect.fail(result)
  )

/** Results of acks in short: the tags, and of an error which job or field it names. */
export const brief = (results: ReadonlyArray<AckResult>): ReadonlyArray<string> =>
  results.map((result) => {
    switch (result._tag) {
      case "Acked":
        return "Acked"
      case "JobStoreError":
        return `${result.reason._tag}${"field" in result.reason ? ` ${result.reason.field}` : ""}`
      default:
        return `${result._tag} ${result.jobId}`
    }
  })

/** Enqueues a job and claims it. The queue must hold no other. */
export const addAndTake = Effect.fnUntraced(function* (
  store: Store,
  fields?: Partial<EnqueueRequest>,
  claim?: Partial<ClaimOptions>
) {
  const { name, queue } = request(fields)
  const id = yield* add(store, fields)
  const held = yield* take(store, { queue, names: [name], ...claim })
  assert.strictEqual(held.id, id, "claim gave another job than the one just enqueued")
  return held
})

const endings: Record<TerminalState, AckOutcome> = { completed: complete("done"), failed: fail("broken"), cancelled }

/** Enqueues a job, claims it and ends it, and gives its id. */
export const addFinished = Effect.fnUntraced(function* (
  store: Store,
  state: TerminalState,
  fields?: Partial<EnqueueRequest>
) {
  const held = yield* addAndTake(store, fields)
  yield* store.ack(held.id, held.token, endings[state])
  return held.id
})

/** The record of a job that must be there. */
export const find = Effect.fnUntraced(function* (store: Store, id: string) {
  const found = yield* store.getJob(id)
  return Option.isSome(found) ? found.value : assert.fail(`there is no job ${id}`)
})

/** Asserts that there is no such job. */
export const isGone = Effect.fnUntraced(function* (store: Store, id: string) {
  const found = yield* store.getJob(id)
  if (Option.isSome(found)) assert.fail(`job ${id} is still there, ${found.value.state}`)
})

/** The fields of `actual` that `expected` names, so that a difference shows those only. */
export const pick = <A extends object>(actual: A, expected: Partial<A>): Partial<A> =>
  // `Object.keys` gives the keys of `expected`, which are keys of `A`.
  Object.fromEntries((Object.keys(expected) as Array<keyof A>).map((key) => [key, actual[key]])) as Partial<A>

/** Asserts fields of a job, as the store gives it now. */
export const isJob = Effect.fnUntraced(function* (store: Store, id: string, expected: Partial<JobRecord>) {
  const job = yield* find(store, id)
  assert.deepStrictEqual(pick(job, expected), expected, `job ${id}`)
})

/** Asserts the states of jobs, in the order of the ids; "gone" stands for no job. */
export const areStates = Effect.fnUntraced(function* (
  store: Store,
  expected: Readonly<Record<string, JobRecord["state"] | "gone">>
) {
  const actual: Record<string, string> = {}
  for (const id of Object.keys(expected)) {
    actual[id] = Option.match(yield* store.getJob(id), { onNone: () => "gone", onSome: (job) => job.state })
  }
  assert.deepStrictEqual(actual, expected)
})

/** An expected ledger entry; times are {@link start} unless given. */
export const run = (attempt: number, outcome: AttemptRecord["outcome"], fields?: Partial<AttemptRecord>) => ({
  attempt,
  startedAt: start,
  finishedAt: start,
  outcome,
  exit: undefined,
  ...fields
})

/** Asserts the whole ledger of a job. */
export const isLedger = Effect.fnUntraced(function* (store: Store, id: string, expected: ReadonlyArray<AttemptRecord>) {
  assert.deepStrictEqual(yield* store.getAttempts(id), expected, `ledger of job ${id}`)
})

/** The complete record of a job that was enqueued by this request under this id at {@link start}. */
export const recordOf = (id: string, { dedupe, delayMs, ...fields }: EnqueueRequest): JobRecord => ({
  ...fields,
  id,
  state: delayMs > 0 ? "delayed" : "waiting",
  attemptsMade: 0,
  stalledCount: 0,
  cancelRequested: false,
  dedupeKey: dedupe?.key,
  flow: undefined,
  runAt: start + Math.max(0, delayMs),
  enqueuedAt: start,
  processedAt: undefined,
  finishedAt: undefined,
  exit: undefined,
  failedReason: undefined
})

interface Tagged {
  readonly _tag: string
}

/** The error of an effect, which must fail with this tag. */
export const failsWith = Effect.fnUntraced(function* <A, E extends Tagged, Tag extends E["_tag"]>(
  effect: Effect.Effect<A, E>,
  tag: Tag
) {
  const exit = yield* Effect.exit(effect)
  if (Exit.isSuccess(exit)) {
    return assert.fail(`expected ${tag}, and it succeeded with ${JSON.stringify(exit.value)}`)
  }
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (error?._tag !== tag) return assert.fail(`expected ${tag}, and it failed with ${Cause.pretty(exit.cause)}`)
  // Its tag was compared.
  return error as Extract<E, { readonly _tag: Tag }>
})

/** The reason of an effect's `JobStoreError`, which must have this tag. */
export const refusedFor = Effect.fnUntraced(function* <A, E extends Tagged, Tag extends JobStoreErrorReason["_tag"]>(
  effect: Effect.Effect<A, E | JobStoreError>,
  tag: Tag
) {
  const { message, reason } = yield* failsWith<A, Tagged | JobStoreError, "JobStoreError">(effect, "JobStoreError")
  assert.strictEqual(reason._tag, tag, message)
  // Its tag was compared.
  return reason as Extract<JobStoreErrorReason, { readonly _tag: Tag }>
})

/** Fails the test when an effect has not ended after ten seconds of real time; for what hangs when a rule is broken. */
export const soon = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.raceFirst(
    effect,
    Effect.andThen(
      TestClock.withLive(Effect.sleep("10 seconds")),
      Effect.sync(() => assert.fail(`after ten seconds: ${what} has not ended`))
    )
  )

/** Asserts that a wait since this token ends. */
export const isWoken = (store: Store, queues: ReadonlyArray<string>, wakeToken: string) =>
  soon(`awaitWake([${queues.join()}], ${wakeToken})`, store.awaitWake(queues, wakeToken))

/** Asks the store a few things, one after another: whatever it had to say before, it has most likely said. */
export const roundTrips = (store: Store) => Effect.repeat(store.counts(), { times: 4 })

/** Asserts that a fiber has not ended. */
export const isParked = <A, E>(fiber: Fiber.Fiber<A, E>, what: string) =>
  Effect.sync(() => {
    const exit = fiber.pollUnsafe()
    if (exit !== undefined)
      assert.fail(`${what} has ended: ${Exit.isSuccess(exit) ? "success" : Cause.pretty(exit.cause)}`)
  })
