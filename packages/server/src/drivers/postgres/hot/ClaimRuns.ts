/** Claims of concurrent callers, made together: those for the same names of a queue as one, all groups by one statement. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { JobRow } from "../../../core/JobRow.ts"
import type { Session } from "../Connections.ts"
import type { LaneKey } from "../LaneNumbers.ts"
import { isTaken } from "../PostgresFault.ts"
import * as ClaimStatement from "./ClaimStatement.ts"
import type { Answer, Taken } from "./ClaimStatement.ts"
import type { Claim, Group } from "./Groups.ts"
import { type Lane, type Line, QueueLanes } from "./QueueLanes.ts"
import { Watermarks } from "./Watermarks.ts"

/** What one caller wants. */
export interface Call {
  readonly store: number
  readonly queue: string
  /** Different ones. */
  readonly names: ReadonlyArray<string>
  readonly tokens: ReadonlyArray<string>
  /** Whether it has jobs by other tokens already. */
  readonly hasSome: boolean
  /** When it is made, and until when jobs are held, in epoch milliseconds. */
  readonly now: number
  readonly until: number
  /** What the values of its jobs may have together. */
  readonly bytes: number
}

/** A job, and the position of the token that holds it. */
export interface Claimed {
  readonly token: number
  readonly job: JobRow
}

/** What a call got. */
export interface CallAnswer {
  readonly claimed: ReadonlyArray<Claimed>
  /** There was more, which did not fit into one answer. When it is not known it counts as no. */
  readonly wasCut: boolean
}

/** Calls that are one group, with the positions of their claims. */
export interface CallGroup {
  readonly key: string
  readonly calls: ReadonlyArray<Call>
  readonly lines: ReadonlyArray<Line>
}

/** The calls by what they ask for. */
export const groupCalls = (calls: ReadonlyArray<Call>): ReadonlyArray<CallGroup> =>
  Array.from(
    Map.groupBy(calls, ({ names, queue, store }) => JSON.stringify([store, queue, ...names])),
    ([key, ofGroup]) => ({ key, calls: ofGroup, lines: linesOf(ofGroup[0]) })
  )

const linesOf = (call: Call | undefined): ReadonlyArray<Line> =>
  call === undefined ? [] : call.names.map((name) => ({ store: call.store, queue: call.queue, name }))

/** A group as a statement takes it. */
export const toGroup = ({ calls, lines }: CallGroup, lanes: Group["lanes"]): Group => ({
  store: lines[0]?.store ?? 0,
  queue: lines[0]?.queue ?? "",
  names: lines.map(({ name }) => name),
  lanes,
  claims: calls.flatMap(({ now, tokens, until }) =>
    tokens.map((token, index): Claim => ({ token, leads: index === 0, now, until }))
  )
})

// A line in which jobs have come back takes the statement for any lanes for so long.
const mergedForMs = 1000
const mostMerged = 10_000

// Where one claim is repeated, others may be: their tokens are looked at first for so long.
const checksForMs = 1000

interface Found {
  readonly group: CallGroup
  readonly lanes: ReadonlyArray<Lane>
}

/** See the file. */
export class ClaimRuns {
  readonly #lanes = new QueueLanes()
  readonly #watermarks = new Watermarks()
  /** Groups that need the statement for any lanes, and until when. */
  readonly #merged = new Map<string, number>()
  #checksTokensUntil = -Infinity

  /** Says that a group found less than there is: what is known of it is not right any more. */
  doubt({ key, lines }: CallGroup): void {
    if (this.#merged.size > mostMerged) this.#merged.clear()
    this.#merged.set(key, performance.now() + mergedForMs)
    this.#forgetHeads(this.#lanes.find(lines))
    this.#lanes.forget(lines)
  }

  /** Claims for all of them; answers by position. */
  run(session: Session, calls: ReadonlyArray<Call>): Effect.Effect<ReadonlyArray<CallAnswer>, SqlError> {
    const groups = groupCalls(calls)
    const lines = groups.flatMap((group) => group.lines)
    return Effect.flatMap(this.#lanes.learn(session, lines), () => {
      const found = groups.map((group): Found => ({ group, lanes: this.#lanes.find(group.lines) }))
      const some = found.filter(({ lanes }) => lanes.length > 0)
      return some.length === 0
        ? Effect.succeed(answers(calls, [], nothing))
        : Effect.map(this.#claim(session, some), (answer) => answers(calls, some, answer))
    })
  }

  #claim(session: Session, found: ReadonlyArray<Found>): Effect.Effect<Answer, SqlError> {
    const now = performance.now()
    const groups = found.map(({ group, lanes }) =>
      toGroup(
        group,
        lanes.map(({ key, lane }) => ({ lane, priority: key.priority, start: this.#watermarks.start(lane, now) }))
      )
    )
    const isStraight = found.every(({ group, lanes }) => lanes.length === 1 && !this.#isMerged(group.key, now))
    const hasMany = found.some(({ group }) => group.calls.some(({ tokens }) => tokens.length > 1))
    const checksTokens = now < this.#checksTokensUntil
    const sql = ClaimStatement.sqlFor({ isStraight, hasMany, checksTokens })
    const bytes = Math.min(...found.flatMap(({ group }) => group.calls.map((call) => call.bytes)))
    const keys = new Map(found.flatMap(({ lanes }) => lanes.map(({ key, lane }) => [lane, key])))
    return session.run(sql, ClaimStatement.parameters(groups, bytes)).pipe(
      // The statement takes from these lanes alone.
      Effect.map((rows) => ClaimStatement.decode(rows, (lane) => keys.get(lane) as LaneKey)),
      Effect.tap(({ taken }) => Effect.sync(() => this.#sawHeads(taken, now))),
      Effect.catchIf(
        (error) => !checksTokens && isTaken(error),
        () => {
          this.#checksTokensUntil = now + checksForMs
          return this.#claim(session, found)
        }
      ),
      // What it had locked may be waiting still, before the heads that others have found since.
      Effect.tapError(() => Effect.sync(() => this.#forgetHeads(found.flatMap(({ lanes }) => lanes))))
    )
  }

  #isMerged(key: string, now: number): boolean {
    const until = this.#merged.get(key)
    if (until !== undefined && until <= now) this.#merged.delete(key)
    return until !== undefined && until > now
  }

  #sawHeads(taken: ReadonlyArray<Taken>, now: number): void {
    const heads = new Map<number, number>()
    for (const { job, lane, wasFresh } of taken) {
      if (wasFresh) heads.set(lane, Math.min(heads.get(lane) ?? Infinity, job.place))
    }
    for (const [lane, place] of heads) this.#watermarks.found(lane, place, now)
  }

  #forgetHeads(lanes: ReadonlyArray<Lane>): void {
    for (const { lane } of lanes) this.#watermarks.forget(lane)
  }
}

const nothing: Answer = { taken: [], wasCut: false }

const answers = (
  calls: ReadonlyArray<Call>,
  found: ReadonlyArray<Found>,
  { taken, wasCut }: Answer
): ReadonlyArray<CallAnswer> => {
  const claims = found.flatMap(({ group }) =>
    group.calls.flatMap((call) => call.tokens.map((_, token) => ({ call, token })))
  )
  const claimed = new Map(calls.map((call): [Call, Array<Claimed>] => [call, []]))
  for (const { job, position } of taken) {
    const claim = claims[position]
    if (claim !== undefined) claimed.get(claim.call)?.push({ token: claim.token, job })
  }
  return Array.from(claimed.values(), (jobs) => ({
    claimed: jobs.toSorted((one, other) => one.token - other.token),
    // Of several groups nobody knows here which was cut.
    wasCut: wasCut && found.length === 1
  }))
}
