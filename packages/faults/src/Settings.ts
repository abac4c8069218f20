/** How often, by which kinds and how hard a proxy hits. All of it can be changed while the proxy runs. */
import { Result } from "effect"
import { FaultsError } from "./FaultsError.ts"
import { isKind, type Kind, kinds } from "./Kinds.ts"

/** Some kinds, each as likely as the others; or kinds with their weights. */
export type KindChoice = ReadonlyArray<Kind> | Readonly<Partial<Record<Kind, number>>>

/** What a proxy can be told about its faults. Durations are milliseconds; of each, a part is drawn. */
export interface Settings {
  /** The servers behind the proxy, in turn: `http://host:port`. Every HTTP request goes to the next, and every WebSocket. */
  readonly upstreams: ReadonlyArray<string>
  /**
   * The share of what comes that is hit: from 0 (nothing; the proxy only carries) to 1. Of connections it is less: the part of it
   * that falls to `refuse`.
   */
  readonly rate: number
  /** Which kinds of faults there are. */
  readonly kinds: KindChoice
  /** Of what is dropped, the share that is lost without a sign: the others lose their connection too. */
  readonly silentShare: number
  /** Of the repeats of WebSocket messages to the server, the share that comes over a connection of its own. */
  readonly apartShare: number
  /** How long a delay is, and how long one waits to be overtaken, at most. */
  readonly delayMs: number
  /** How long after the first a late repeat comes, at most. */
  readonly lateMs: number
  /** How long a silence is, at most. */
  readonly halfOpenMs: number
  /** How long connections are refused, at most. */
  readonly refuseMs: number
  /** How long a balancer waits for an answer before it answers itself, when it has delivered the request. */
  readonly balancerMs: number
  /** How big a message may be that is repeated, in bytes. A bigger one passes once. */
  readonly copyBytes: number
  /** How much the proxy may hold of messages that are repeated, all together, in bytes. Beyond it they pass once. */
  readonly heldBytes: number
}

const mib = 1024 * 1024

/** The settings of a proxy that was told nothing but its upstreams. */
export const defaults: Omit<Settings, "upstreams"> = {
  rate: 0.1,
  kinds,
  silentShare: 0.5,
  apartShare: 0.5,
  delayMs: 100,
  lateMs: 500,
  halfOpenMs: 1000,
  refuseMs: 200,
  balancerMs: 1000,
  copyBytes: mib,
  heldBytes: 64 * mib
}

/** The kinds with their weights. */
export const weightsOf = (choice: KindChoice): ReadonlyArray<readonly [kind: Kind, weight: number]> =>
  isList(choice)
    ? [...new Set(choice)].map((kind) => [kind, 1] as const)
    : kinds.flatMap((kind) => (choice[kind] === undefined ? [] : [[kind, choice[kind]] as const]))

const isList = (choice: KindChoice): choice is ReadonlyArray<Kind> => Array.isArray(choice)

/** A server behind the proxy. */
export interface Upstream {
  readonly host: string
  readonly port: number
  /** `host:port`, as logs show it. */
  readonly name: string
}

const upstreamForm = "must be http://host:port of a server, without a path, a query or credentials"

/** Reads an upstream. What is wrong with one is said without its text, as it may hold a password. */
export const parseUpstream = (url: string): Result.Result<Upstream, FaultsError> => {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const isPlain =
    parsed?.protocol === "http:" &&
    parsed.username + parsed.password + parsed.search + parsed.hash === "" &&
    parsed.pathname === "/"
  if (parsed === undefined || !isPlain) return problem("upstreams", upstreamForm)
  const host = parsed.hostname.replace(/^\[(.*)\]$/, "$1")
  return Result.succeed({ host, port: Number(parsed.port || 80), name: `${parsed.hostname}:${parsed.port || 80}` })
}

const problem = (field: string, text: string): Result.Result<never, FaultsError> =>
  Result.fail(new FaultsError({ message: `${field} ${text}` }))

// Timers of Node go no further.
const longestMs = 2 ** 31 - 1

const numbers = {
  rate: { most: 1, whole: false },
  silentShare: { most: 1, whole: false },
  apartShare: { most: 1, whole: false },
  delayMs: { most: longestMs, whole: true },
  lateMs: { most: longestMs, whole: true },
  halfOpenMs: { most: longestMs, whole: true },
  refuseMs: { most: longestMs, whole: true },
  balancerMs: { most: longestMs, whole: true },
  copyBytes: { most: 1024 * mib, whole: true },
  heldBytes: { most: 1024 * mib, whole: true }
} as const satisfies Partial<Record<keyof Settings, unknown>>

const checkNumbers = (settings: Settings): Result.Result<unknown, FaultsError> => {
  // The keys are those of the table.
  for (const field of Object.keys(numbers) as ReadonlyArray<keyof typeof numbers>) {
    const { most, whole } = numbers[field]
    const value: unknown = settings[field]
    const isGood = typeof value === "number" && value >= 0 && value <= most && (!whole || Number.isInteger(value))
    if (!isGood) {
      return problem(
        field,
        `must be a ${whole ? "whole " : ""}number from 0 to ${most}, and is ${JSON.stringify(value)}`
      )
    }
  }
  return Result.succeed(undefined)
}

const checkKinds = ({ kinds: choice }: Settings): Result.Result<unknown, FaultsError> => {
  if (typeof choice !== "object" || choice === null)
    return problem("kinds", "must be a list of kinds, or their weights")
  const names = isList(choice) ? choice : Object.keys(choice)
  const unknown = names.find((name) => !isKind(name))
  if (unknown !== undefined) {
    return problem("kinds", `has ${JSON.stringify(unknown)}, which is none: there are ${kinds.join(", ")}`)
  }
  const weights = weightsOf(choice).map(([, weight]) => weight)
  const areGood = weights.every((weight) => typeof weight === "number" && Number.isFinite(weight) && weight >= 0)
  return areGood ? Result.succeed(undefined) : problem("kinds", "must have weights that are numbers from 0")
}

const checkUpstreams = ({ upstreams }: Settings): Result.Result<unknown, FaultsError> => {
  if (!Array.isArray(upstreams) || upstreams.length === 0) return problem("upstreams", "must be at least one server")
  return Result.all(upstreams.map((url) => parseUpstream(String(url))))
}

const known = new Set([...Object.keys(defaults), "upstreams"])

/** The settings with some of them changed, if all are what they may be. */
export const change = (settings: Settings, changes: Partial<Settings>): Result.Result<Settings, FaultsError> => {
  const stranger = Object.keys(changes).find((name) => !known.has(name))
  if (stranger !== undefined) {
    return problem(stranger, `is no setting: there are ${[...known].join(", ")}`)
  }
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  const changed: Settings = { ...settings, ...Object.fromEntries(given) }
  const checks = Result.all([checkUpstreams(changed), checkNumbers(changed), checkKinds(changed)])
  return Result.map(checks, () => changed)
}
