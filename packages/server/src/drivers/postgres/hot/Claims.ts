/**
 * Claiming by statements that all callers of a server share: a claim, and where it gave too little a look at why, which leads to an
 * empty answer, to a promotion of what is due, to another try, or to a unit of work.
 */
import type { ClaimedJob, ClaimManyOptions, ClaimManyResult, JobStoreError } from "@jobwire/protocol"
import { Array as Arr, Effect, type Scope } from "effect"
import * as LiveClock from "../../../LiveClock.ts"
import { jobRecord } from "../../embedded/Records.ts"
import type { WakeEvent } from "../../wake/Wakes.ts"
import type { Sessions } from "../Connections.ts"
import { lockUntil } from "./AnyJob.ts"
import { type Call, type CallAnswer, type Claimed, ClaimRuns } from "./ClaimRuns.ts"
import type { HotSettings } from "./HotSettings.ts"
import type { HotStore } from "./HotStore.ts"
import type { KnownNumbers } from "./KnownNumbers.ts"
import type { Promoted } from "./PromoteStatement.ts"
import * as Promotions from "./Promotions.ts"
import * as QueueChecks from "./QueueChecks.ts"
import type { CallStanding } from "./QueueChecks.ts"
import { repeatable } from "./Repeatable.ts"
import * as Sharing from "./Sharing.ts"
import { TokensInFlight } from "./TokensInFlight.ts"

// How often a call looks again for jobs that are there, but in the hands of others; then a unit of work waits for those.
const mostTurns = 12
const longestPauseMs = 25

/** Claims jobs of a store. */
export interface ClaimMany {
  (store: HotStore, options: ClaimManyOptions): Effect.Effect<ClaimManyResult, JobStoreError>
}

/** The first time at once: what was taken for right was wrong. Later it is others who have the jobs. */
const later = <A, E>(turn: number, next: () => Effect.Effect<A, E>): Effect.Effect<A, E> => {
  if (turn === 0) return Effect.suspend(next)
  const pause = Math.min(2 ** (turn - 1), longestPauseMs) * (0.5 + Math.random() / 2)
  return Effect.andThen(LiveClock.sleep(pause), Effect.suspend(next))
}

interface Steps {
  readonly claim: (call: Call) => Effect.Effect<CallAnswer, JobStoreError>
  readonly check: (call: Call) => Effect.Effect<CallStanding, JobStoreError>
  readonly promote: Promotions.Promote
  /** Says that a call's group got nothing though there is something. */
  readonly doubt: (standing: CallStanding) => void
  readonly numbers: KnownNumbers
}

/** See the file; for as long as the scope lives. */
export const make: (
  sessions: Sessions,
  settings: HotSettings,
  numbers: KnownNumbers
) => Effect.Effect<ClaimMany, never, Scope.Scope> = Effect.fnUntraced(function* (sessions, settings, numbers) {
  const runs = new ClaimRuns()
  const gathering = { mostWeight: settings.most, weightOf: ({ tokens }: Call) => tokens.length }
  const claim = yield* Sharing.make<Call, CallAnswer>({
    ...gathering,
    atOnce: settings.claimsAtOnce,
    run: (calls) => repeatable(sessions, (session) => runs.run(session, calls))
  })
  const check = yield* Sharing.make<Call, CallStanding>({
    ...gathering,
    atOnce: 1,
    run: (calls) => repeatable(sessions, (session) => QueueChecks.run(session, calls))
  })
  const steps: Steps = {
    claim,
    check,
    promote: yield* Promotions.make(sessions),
    doubt: ({ group }) => runs.doubt(group),
    numbers
  }
  const inFlight = new TokensInFlight()
  return (store, options) =>
    options.names.length === 0
      ? store.units.claimMany(options)
      : inFlight.alone(store.number, options.tokens, claimMany(steps, store, options))
})

const claimMany = (
  steps: Steps,
  store: HotStore,
  options: ClaimManyOptions
): Effect.Effect<ClaimManyResult, JobStoreError> =>
  Effect.clockWith((clock) => {
    const now = clock.currentTimeMillisUnsafe()
    const call: Call = {
      store: store.number,
      queue: options.queue,
      names: Arr.dedupe(options.names),
      tokens: options.tokens,
      hasSome: false,
      now,
      until: lockUntil(options.lockDurationMs, now),
      bytes: store.limits.pageBytes
    }
    const attempt = new Attempt(steps, store, options, call)
    return Effect.ensuring(
      attempt.run,
      Effect.sync(() => attempt.wake())
    )
  })

/** One call on its way. */
class Attempt {
  readonly #steps: Steps
  readonly #store: HotStore
  readonly #options: ClaimManyOptions
  readonly #call: Call
  readonly #promoted: Array<Promoted> = []
  #claimed: ReadonlyArray<Claimed> = []
  #isPaused = false

  constructor(steps: Steps, store: HotStore, options: ClaimManyOptions, call: Call) {
    this.#steps = steps
    this.#store = store
    this.#options = options
    this.#call = call
  }

  get run(): Effect.Effect<ClaimManyResult, JobStoreError> {
    return this.#turn(0)
  }

  /** Calls the takers of jobs that it has promoted and not taken, unless they could take nothing. */
  wake(): void {
    if (this.#isPaused) return
    const taken = new Set(this.#claimed.map(({ job }) => job.seq))
    const left = this.#promoted.filter(({ seq }) => !taken.has(seq))
    for (const [transaction, jobs] of Map.groupBy(left, (job) => job.transaction)) {
      const names = Map.groupBy(jobs, ({ name }) => name)
      const events = Array.from(names, ([name, { length }]): WakeEvent => ({
        queue: this.#call.queue,
        name,
        count: length
      }))
      this.#store.wake.notify(events, transaction)
    }
  }

  #turn(turn: number): Effect.Effect<ClaimManyResult, JobStoreError> {
    if (turn >= mostTurns) return this.#store.units.claimMany(this.#options)
    return Effect.flatMap(this.#steps.claim(this.#call), ({ claimed, wasCut }) => {
      this.#claimed = claimed
      // What did not fit goes to the next call; one that got nothing comes again at once, and is among the first some time.
      if (wasCut && claimed.length === 0) return this.#turn(turn)
      return wasCut || claimed.length === this.#call.tokens.length
        ? Effect.succeed(this.#result(undefined))
        : this.#check(turn)
    })
  }

  #check(turn: number): Effect.Effect<ClaimManyResult, JobStoreError> {
    return Effect.flatMap(this.#steps.check(this.#rest), (found) => {
      const { isHeld, standing } = found
      this.#isPaused = standing.isPaused
      const isEmpty = !isHeld && !standing.isDue && (standing.isPaused || !standing.isClaimable)
      if (isEmpty) return Effect.succeed(this.#result(standing))
      return this.#claimed.length === 0 ? this.#goOn(found, turn) : this.#endWithSome(found, turn)
    })
  }

  /** There is more than it got, or others have it, and it is empty when they keep it. It is one step, so it takes no more. */
  #endWithSome({ isHeld, standing }: CallStanding, turn: number): Effect.Effect<ClaimManyResult, JobStoreError> {
    if (isHeld) return this.#endWithHeld()
    return standing.isDue || standing.isFree || turn >= mostTurns
      ? Effect.succeed(this.#result(undefined))
      : later(turn, () => this.#check(turn + 1))
  }

  /** Of the tokens that are left some hold jobs, of this queue or another, which only a unit tells apart. */
  #endWithHeld(): Effect.Effect<ClaimManyResult, JobStoreError> {
    const { jobs } = this.#result(undefined)
    return Effect.map(this.#store.units.claimMany({ ...this.#options, tokens: this.#rest.tokens }), (rest) => ({
      jobs: [...jobs, ...rest.jobs],
      empty: rest.empty
    }))
  }

  #goOn(found: CallStanding, turn: number): Effect.Effect<ClaimManyResult, JobStoreError> {
    const next = () => later(turn, () => this.#turn(turn + 1))
    if (found.isHeld) return this.#store.units.claimMany(this.#options)
    if (found.standing.isDue) {
      return Effect.flatMap(this.#steps.promote(this.#call), ({ hasPromoted, promoted }) => {
        this.#promoted.push(...promoted)
        return hasPromoted ? this.#turn(turn) : next()
      })
    }
    this.#steps.doubt(found)
    return next()
  }

  get #rest(): Call {
    const taken = new Set(this.#claimed.map(({ token }) => token))
    return { ...this.#call, tokens: this.#call.tokens.filter((_, token) => !taken.has(token)), hasSome: taken.size > 0 }
  }

  #result(empty: CallStanding["standing"] | undefined): ClaimManyResult {
    const { names, queue, tokens } = this.#options
    const jobs = this.#claimed.map(({ job, token }): ClaimedJob => {
      const held = tokens[token] ?? ""
      this.#steps.numbers.learn(this.#store.number, held, job)
      return { token: held, job: jobRecord(job) }
    })
    if (empty === undefined) return { jobs, empty: undefined }
    const wakeToken = this.#store.wake.token(queue, names, empty.snapshot)
    return { jobs, empty: { nextRunAt: empty.nextRunAt, wakeToken } }
  }
}
