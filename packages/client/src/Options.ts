/** What an application may say about a remote store, and the settings that are made of it. */
import { invalidArgument, type JobStoreError, Limits, Wire } from "@jobwire/protocol"
import { Duration, Effect, Option, type Redacted, Result } from "effect"
import { type Endpoint, parseEndpoint } from "./Endpoint.ts"
import { parseToken, type Token } from "./Token.ts"

/** The options of a remote store. Only `url` must be given. */
export interface Options {
  /** `http(s)://host[:port][/base]` of the server; `ws(s)://` is taken too. */
  readonly url: string | URL
  /** The bearer token, for a server that asks for one. */
  readonly token?: Redacted.Redacted | string | undefined
  /** Which store of the server; the one called "default" unless given. */
  readonly store?: string | undefined
  /**
   * `websocket` (unless given): all calls share one socket, which is opened again whenever it is lost. `http`: one POST a
   * call, for networks that let nothing else through.
   */
  readonly transport?: "websocket" | "http" | undefined
  /** How long a call that was sent may go unanswered: 30 seconds unless given. `awaitWake` has no such end. */
  readonly callTimeout?: Duration.Input | undefined
  /** How long a call waits for a server that cannot be reached: 30 seconds unless given. */
  readonly outageTimeout?: Duration.Input | undefined
  /**
   * For how long a call is tried again whose answer was lost, or that the server cannot take now: 30 seconds unless given, and 0 for
   * never. All tries have one key, so the call is carried out once, whichever of them arrive.
   */
  readonly retryTimeout?: Duration.Input | undefined
  /** How often a socket is asked for a sign of life: 5 seconds unless given. Two without one end the connection. */
  readonly pingInterval?: Duration.Input | undefined
  /** How many seconds the server may hold an `awaitWake` over HTTP: 25 unless given. Proxies often cut at 60. */
  readonly waitSeconds?: number | undefined
  /** How big a message may be, in bytes: what the server is set to, a little below 16 MiB unless given. */
  readonly maxMessageBytes?: number | undefined
  /**
   * Whether calls of `ack` that are made in one turn of the event loop go as one message (`ackMany`): yes unless given. Results,
   * errors and interruption are those of each caller; one call alone goes as it is, and waits for no other.
   */
  readonly gatherAcks?: boolean | undefined
  /** The limits that arguments are held to before they are sent: those of the layer's context unless given. */
  readonly limits?: Limits.Limits | undefined
}

/** Options that were checked, with every value filled in. Durations are milliseconds. */
export interface Settings {
  readonly endpoint: Endpoint
  readonly token: Token
  readonly transport: "websocket" | "http"
  readonly callTimeoutMs: number
  readonly outageTimeoutMs: number
  readonly retryTimeoutMs: number
  readonly pingIntervalMs: number
  readonly waitSeconds: number
  readonly maxMessageBytes: number
  readonly gatherAcks: boolean
  readonly limits: Limits.Limits
}

const duration = (
  field: string,
  given: Duration.Input | undefined,
  fallback: Duration.Input,
  orNone = false
): Result.Result<number, JobStoreError> => {
  const ms = Option.map(Duration.fromInput(given ?? fallback), Duration.toMillis)
  if (Option.isSome(ms) && (ms.value > 0 || (orNone && ms.value === 0))) return Result.succeed(ms.value)
  const allowed = orNone ? "zero, or a duration above it" : "a duration above zero"
  return Result.fail(invalidArgument(field, `must be ${allowed}, such as 500 or "30 seconds"`))
}

const wholeNumber = (field: string, given: number): Result.Result<number, JobStoreError> =>
  check(
    given,
    !(Number.isInteger(given) && given > 0) &&
      invalidArgument(field, `must be a whole number above zero, and is ${given}`)
  )

const check = <A>(value: A, problem: JobStoreError | false): Result.Result<A, JobStoreError> =>
  problem === false ? Result.succeed(value) : Result.fail(problem)

/** Checks the options. Every error names the option, and says what it may be. */
export const parseOptions = (options: Options): Effect.Effect<Settings, JobStoreError> =>
  Effect.gen(function* () {
    const contextLimits = yield* Limits.CurrentLimits
    const limits = options.limits ?? contextLimits
    const { gatherAcks = true, store, transport = "websocket" } = options
    const badStore = store !== undefined && (store === "" || store.length > limits.nameLength)
    return yield* Effect.fromResult(
      Result.all({
        store: check(
          store,
          badStore && invalidArgument("store", `must be a name of 1 to ${limits.nameLength} characters`)
        ),
        endpoint: parseEndpoint(options.url, store),
        token: parseToken(options.token),
        transport: check(
          transport,
          transport !== "websocket" &&
            transport !== "http" &&
            invalidArgument("transport", `must be "websocket" or "http", and is ${JSON.stringify(transport)}`)
        ),
        callTimeoutMs: duration("callTimeout", options.callTimeout, "30 seconds"),
        outageTimeoutMs: duration("outageTimeout", options.outageTimeout, "30 seconds"),
        retryTimeoutMs: duration("retryTimeout", options.retryTimeout, "30 seconds", true),
        pingIntervalMs: duration("pingInterval", options.pingInterval, "5 seconds"),
        waitSeconds: wholeNumber("waitSeconds", options.waitSeconds ?? 25),
        maxMessageBytes: wholeNumber("maxMessageBytes", options.maxMessageBytes ?? Wire.maxMessageBytes),
        gatherAcks: check(
          gatherAcks,
          typeof gatherAcks !== "boolean" && invalidArgument("gatherAcks", "must be true or false")
        ),
        limits: Result.succeed(limits)
      })
    )
  })
