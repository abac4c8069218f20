/** Proxies that do one thing. */
import { Effect } from "effect"
import { type Decision, decide, type DecisionOf } from "../../src/Decision.ts"
import * as Faults from "../../src/Faults.ts"

/** A proxy that hits everything by this kind. */
export const only = (
  kind: Faults.Kind,
  upstreams: string | ReadonlyArray<string>,
  options: Partial<Faults.Options> = {}
) => Faults.start({ upstreams, rate: 1, kinds: [kind], seed: 1, ...options })

/** A seed by which number `n`, a target of this sort, is hit so by a proxy that hits everything by this kind. */
export const seedFor = <K extends Faults.Kind>(
  kind: K,
  target: Faults.Target,
  n: number,
  isWanted: (decision: DecisionOf<K>) => boolean,
  settings: Partial<Faults.Settings> = {}
): number => {
  const all: Faults.Settings = { ...Faults.defaults, upstreams: [], rate: 1, kinds: [kind], ...settings }
  const isSo = (decision: Decision | undefined): boolean =>
    // The only kind that there is.
    decision !== undefined && isWanted(decision as DecisionOf<K>)
  for (let seed = 0; seed < 10_000; seed++) if (isSo(decide(all, seed, n, target))) return seed
  throw new Error(`no seed hits ${target} ${n} by ${kind} as it is wanted`)
}

/** The number of the first request of a proxy: its connection came before it. */
export const firstRequest = 2

/** The number of the first message of a proxy: its connection and its upgrade came before it. */
export const firstMessage = 3

/** How long an effect takes, in milliseconds. */
export const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const start = performance.now()
    return Effect.map(effect, (value) => ({ value, ms: performance.now() - start }))
  })
