/** The servers behind the proxy, in turn. */
import { Effect, Result, type Scope } from "effect"
import { Agent } from "node:http"
import { connect, type Socket } from "node:net"
import { type FaultsError } from "../FaultsError.ts"
import { parseUpstream, type Settings, type Upstream } from "../Settings.ts"
import { type Call, open, Trouble } from "./Call.ts"
import type { RequestHead } from "./Head.ts"

// Connections are kept for a moment only: a server that closes one just when it is used again would be a fault of its own.
const idleMs = 1000

/** See {@link make}. */
export interface Upstreams {
  /** A request to the next server that takes connections. */
  readonly open: (head: RequestHead) => Effect.Effect<Call, Trouble, Scope.Scope>
  /** The same, over a connection that nothing else uses: for upgrades. */
  readonly openAlone: (head: RequestHead) => Effect.Effect<Call, Trouble, Scope.Scope>
  /** A bare connection to the next server that takes one. */
  readonly connect: Effect.Effect<Socket, Trouble, Scope.Scope>
}

const connectTo = Effect.fnUntraced(function* ({ host, name, port }: Upstream) {
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => connect({ host, port, noDelay: true }).on("error", () => undefined)),
    (socket) => Effect.sync(() => void socket.destroy())
  )
  yield* Effect.callback<void, Trouble>((resume) => {
    socket.once("connect", () => resume(Effect.void))
    socket.once("error", (error) => resume(Effect.fail(new Trouble({ message: `${name}: ${error.message}` }))))
  })
  return socket
})

/** The servers of the settings as they are at each moment, until the scope closes. */
export const make = Effect.fnUntraced(function* (settings: () => Settings) {
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, timeout: idleMs })),
    (agent) => Effect.sync(() => agent.destroy())
  )
  let turn = 0
  let parsed: { readonly from: Settings["upstreams"]; readonly list: ReadonlyArray<Upstream> } | undefined

  const list = (): ReadonlyArray<Upstream> => {
    const { upstreams } = settings()
    if (parsed?.from !== upstreams) {
      const found = upstreams.map(parseUpstream)
      // They were checked when they were set.
      parsed = {
        from: upstreams,
        list: found.map((each: Result.Result<Upstream, FaultsError>) => Result.getOrThrow(each))
      }
    }
    return parsed.list
  }

  // A server that takes no connection has got nothing of the request, so the next one may have it, as balancers do.
  const inTurn = <A>(reach: (upstream: Upstream) => Effect.Effect<A, Trouble, Scope.Scope>) =>
    Effect.gen(function* () {
      const all = list()
      let trouble = new Trouble({ message: "there is no server" })
      for (let tries = 0; tries < all.length; tries++) {
        const upstream = all[turn++ % all.length]
        if (upstream === undefined) break
        const reached = yield* Effect.result(reach(upstream))
        if (Result.isSuccess(reached)) return reached.success
        trouble = reached.failure
      }
      return yield* Effect.fail(trouble)
    })

  const upstreams: Upstreams = {
    open: (head) => inTurn((upstream) => open(upstream, head, agent)),
    openAlone: (head) => inTurn((upstream) => open(upstream, head, false)),
    connect: inTurn(connectTo)
  }
  return upstreams
})
