/** A proxy that runs: what it can be told and asked, and how it is put together. */
import { Clock, Context, Effect, FiberSet, Layer, type Scope } from "effect"
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { Socket } from "node:net"
import { Copy, type Held } from "./Copy.ts"
import { decide } from "./Decision.ts"
import * as Door from "./Door.ts"
import * as FaultLog from "./FaultLog.ts"
import { FaultsError } from "./FaultsError.ts"
import { exchange } from "./http/Exchange.ts"
import type { Target } from "./Kinds.ts"
import { Outstanding } from "./Outstanding.ts"
import { Overtaking } from "./Overtaking.ts"
import { change, defaults, type Settings } from "./Settings.ts"
import * as Upstreams from "./upstream/Upstreams.ts"
import { upgrade } from "./websocket/Upgrade.ts"
import type { Verdict, Workings } from "./Workings.ts"

/** What a proxy can be told. Only the upstreams must be given. */
export interface Options extends Partial<Omit<Settings, "upstreams">> {
  /** The servers behind the proxy, in turn: `http://host:port`. */
  readonly upstreams: string | ReadonlyArray<string>
  /** What all decisions come from: a whole number of 32 bits. One is drawn unless given. */
  readonly seed?: number | undefined
  /** Where to listen: 127.0.0.1 unless given. The proxy lets everybody in who can reach it. */
  readonly host?: string | undefined
  /** The port to listen on; a free one unless given. */
  readonly port?: number | undefined
  /** A file that gets every entry of the log as a line of JSON. What it held before is gone. */
  readonly logFile?: string | undefined
}

/** A proxy that runs. */
export class FaultProxy extends Context.Service<
  FaultProxy,
  {
    /** `http://host:port`: what the client under test is given in place of the server's. */
    readonly url: string
    readonly port: number
    readonly seed: number
    /** The settings as they are. */
    readonly settings: Effect.Effect<Settings>
    /** Changes some of the settings, for all that comes from now on. Fails, and changes nothing, when one is not what it may be. */
    readonly change: (changes: Partial<Settings>) => Effect.Effect<void, FaultsError>
    /** No more faults; resolves when all that was held back has passed and all that is repeated late was delivered. */
    readonly calm: Effect.Effect<void>
    /** The latest ten thousand hits, oldest first. */
    readonly log: Effect.Effect<ReadonlyArray<FaultLog.Entry>>
    readonly counts: Effect.Effect<FaultLog.Counts>
  }
>()("@jobwire/faults/FaultProxy") {}

const checkSeed = (seed: number): Effect.Effect<number, FaultsError> =>
  Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32
    ? Effect.succeed(seed)
    : Effect.fail(new FaultsError({ message: `seed must be a whole number from 0 to ${2 ** 32 - 1}, and is ${seed}` }))

// A query may hold a secret, and so may what is more than a path; and a path may be long.
const describeRequest = ({ method = "?", url = "" }: IncomingMessage): string =>
  `${method} ${url.startsWith("/") ? url.split("?")[0] : "(no path)"}`.slice(0, 200)

const makeJudge = (seed: number, settings: () => Settings, log: FaultLog.FaultLog) => {
  let n = 0
  return (target: Target, connection: number, what: string): Verdict => {
    const mine = ++n
    const decision = decide(settings(), seed, mine, target)
    log.seen(target)
    if (decision !== undefined) log.hit(mine, connection, target, what, decision)
    return { n: mine, decision }
  }
}

const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === "websocket"

/** What understands HTTP. It listens nowhere: the door hands it the connections. */
const makeHttp = (workings: Workings, numberOf: (socket: Socket) => number): Server => {
  const server = createServer({
    // How long and how big a request may be is the servers' to say.
    maxHeaderSize: 256 * 1024,
    requestTimeout: 0,
    headersTimeout: 0,
    keepAliveTimeout: 0
  })
  server.on("request", (request, response) => {
    response.on("error", () => undefined)
    request.on("error", () => undefined)
    const connection = numberOf(request.socket)
    const verdict = workings.judge("request", connection, describeRequest(request))
    workings.run(exchange(workings, verdict, connection, request, response))
  })
  // Node hands over the socket that it was given.
  server.on("upgrade", (request, socket: Socket, head: Buffer) => {
    if (head.length > 0) socket.unshift(head)
    const connection = numberOf(socket)
    const verdict: Verdict = isWebSocket(request)
      ? workings.judge("upgrade", connection, describeRequest(request))
      : { n: 0, decision: undefined }
    workings.run(upgrade(workings, verdict, connection, request, socket))
  })
  return server
}

/** Numbers the connections. */
const makeNumbers = () => {
  const numbers = new WeakMap<Socket, number>()
  let last = 0
  return {
    numberOf: (socket: Socket): number => numbers.get(socket) ?? 0,
    number: (socket: Socket): number => {
      numbers.set(socket, ++last)
      return last
    }
  }
}

const urlOf = (host: string, port: number): string => {
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`
}

/** Starts a proxy, which ends with the scope: its connections, its timers, its log. */
export const start = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<FaultProxy["Service"], FaultsError, Scope.Scope> {
  const { host = "127.0.0.1", logFile, port = 0, seed: given, upstreams: servers, ...changes } = options
  const upstreams = typeof servers === "string" ? [servers] : servers
  let settings = yield* Effect.fromResult(change({ ...defaults, upstreams }, changes))
  const seed = yield* checkSeed(given ?? Math.floor(Math.random() * 2 ** 32))
  const log = yield* FaultLog.make(logFile)
  log.note({ seed, settings })
  const current = () => settings
  const judge = makeJudge(seed, current, log)
  const connections = makeNumbers()
  const outstanding = new Outstanding()
  const held: Held = { bytes: 0 }
  const fibers = yield* FiberSet.make()
  const run = makeRun(yield* FiberSet.runtime(fibers)())
  const workings: Workings = {
    settings: current,
    log,
    judge,
    upstreams: yield* Upstreams.make(current),
    overtaking: { toServer: new Overtaking(), toClient: new Overtaking() },
    outstanding,
    copy: () => new Copy(current, held),
    run
  }
  const http = makeHttp(workings, connections.numberOf)
  const door: Door.Door = yield* Door.make(host, port, (socket) => {
    const { decision } = judge("connection", connections.number(socket), "a connection")
    if (decision?.kind !== "refuse") return void http.emit("connection", socket)
    socket.resetAndDestroy()
    run(outstanding.while(door.shut(decision.ms)))
  })
  // First of all nothing goes on: what breaks by the end of the proxy is no trouble of anybody's.
  yield* Effect.addFinalizer(() => FiberSet.clear(fibers))
  const update = (changes: Partial<Settings>) =>
    Effect.suspend(() =>
      Effect.map(Effect.fromResult(change(settings, changes)), (changed) => {
        settings = changed
        log.note({ settings })
      })
    )
  return {
    url: urlOf(host, door.port),
    port: door.port,
    seed,
    settings: Effect.sync(current),
    change: update,
    calm: Effect.andThen(Effect.orDie(update({ rate: 0 })), outstanding.none),
    log: Effect.sync(log.entries),
    counts: Effect.sync(log.counts)
  }
})

// All time here is the machine's own: it is about the network, and a test that moves its clock must not hurry it.
const clock: Clock.Clock = Clock.Clock.defaultValue()

/** A fault of the proxy itself is told, and ends nothing but what it hit. */
const makeRun =
  (run: Workings["run"]): Workings["run"] =>
  (effect) =>
    run(
      effect.pipe(
        Effect.provideService(Clock.Clock, clock),
        Effect.catchDefect((defect) => Effect.logError("a fault in @jobwire/faults itself", defect))
      )
    )

/** The proxy as a service, for as long as the layer is there. */
export const layer = (options: Options): Layer.Layer<FaultProxy, FaultsError> =>
  Layer.effect(FaultProxy, start(options))
