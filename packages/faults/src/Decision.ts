/** What happens to one thing that comes: decided by the settings, the seed and its number, and by nothing else. */
import { type Draws, drawsOf } from "./Draws.ts"
import { canHit, type Kind, type Target } from "./Kinds.ts"
import { type Settings, weightsOf } from "./Settings.ts"

/** Which way is hit. */
export type Side = "request" | "answer"

/** What happens. Durations are milliseconds. */
export type Decision =
  | { readonly kind: "drop-request"; readonly silent: boolean }
  | { readonly kind: "drop-answer"; readonly silent: boolean }
  | {
      readonly kind: "repeat"
      /** A WebSocket message comes over a connection of its own. */
      readonly apart: boolean
      /** Whose answer the client gets. */
      readonly answer: "first" | "second"
    }
  | { readonly kind: "late-repeat"; readonly apart: boolean; readonly ms: number }
  | { readonly kind: "delay"; readonly side: Side; readonly ms: number }
  | { readonly kind: "reorder"; readonly ms: number }
  | {
      readonly kind: "cut"
      readonly side: Side
      /** How much of it gets through before the cut, from 0 to below 1. */
      readonly share: number
    }
  | { readonly kind: "half-open"; readonly side: Side; readonly ms: number }
  | { readonly kind: "balancer"; readonly status: 502 | 503 | 504; readonly delivered: boolean }
  | { readonly kind: "refuse"; readonly ms: number }

/** The decision of this kind. */
export type DecisionOf<K extends Kind> = Extract<Decision, { readonly kind: K }>

const statuses = [502, 503, 504] as const

// Never 0: the milliseconds of a duration are at least one.
const part = (draws: Draws, most: number): number => 1 + Math.floor(draws("amount") * most)

const half = (draw: number): boolean => draw < 0.5

const side = (draws: Draws): Side => (half(draws("first")) ? "request" : "answer")

const makers: { readonly [K in Kind]: (settings: Settings, draws: Draws) => DecisionOf<K> } = {
  "drop-request": ({ silentShare }, draws) => ({ kind: "drop-request", silent: draws("first") < silentShare }),
  "drop-answer": ({ silentShare }, draws) => ({ kind: "drop-answer", silent: draws("first") < silentShare }),
  repeat: ({ apartShare }, draws) => ({
    kind: "repeat",
    apart: draws("first") < apartShare,
    answer: half(draws("second")) ? "first" : "second"
  }),
  "late-repeat": ({ apartShare, lateMs }, draws) => ({
    kind: "late-repeat",
    apart: draws("first") < apartShare,
    ms: part(draws, lateMs)
  }),
  delay: ({ delayMs }, draws) => ({ kind: "delay", side: side(draws), ms: part(draws, delayMs) }),
  reorder: ({ delayMs }) => ({ kind: "reorder", ms: delayMs }),
  cut: (_, draws) => ({ kind: "cut", side: side(draws), share: draws("amount") }),
  "half-open": ({ halfOpenMs }, draws) => ({ kind: "half-open", side: side(draws), ms: part(draws, halfOpenMs) }),
  balancer: (_, draws) => ({
    kind: "balancer",
    status: statuses[Math.floor(draws("amount") * statuses.length)] ?? 502,
    delivered: half(draws("first"))
  }),
  refuse: ({ refuseMs }, draws) => ({ kind: "refuse", ms: part(draws, refuseMs) })
}

type Weighted = ReadonlyArray<readonly [kind: Kind, weight: number]>

const sum = (weighted: Weighted): number => weighted.reduce((sum, [, weight]) => sum + weight, 0)

const choose = (possible: Weighted, draw: number): Kind | undefined => {
  let left = draw * sum(possible)
  for (const [kind, weight] of possible) {
    left -= weight
    if (left < 0) return kind
  }
  return possible.at(-1)?.[0]
}

/**
 * How much of what comes of this target is hit. Of messages, the rate. Of connections, where there is one kind only, that kind's
 * part of the rate: else refusals would be more frequent than all that can happen to a message together.
 */
const shareHit = (rate: number, target: Target, possible: Weighted, all: Weighted): number =>
  target === "connection" ? (rate * sum(possible)) / sum(all) : rate

/** What happens to number `n`, which is of this kind of target; nothing for most. */
export const decide = (settings: Settings, seed: number, n: number, target: Target): Decision | undefined => {
  const draws = drawsOf(seed, n)
  const draw = draws("hit")
  if (draw >= settings.rate) return undefined
  const all = weightsOf(settings.kinds).filter(([, weight]) => weight > 0)
  const possible = all.filter(([kind]) => canHit(kind, target))
  if (possible.length === 0 || draw >= shareHit(settings.rate, target, possible, all)) return undefined
  const kind = choose(possible, draws("kind"))
  return kind === undefined ? undefined : makers[kind](settings, draws)
}
