/** The port of the proxy: it accepts connections, and for a while does not. */
import { Effect, Schedule, type Scope } from "effect"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { FaultsError } from "./FaultsError.ts"

/** See {@link make}. */
export interface Door {
  readonly port: number
  /** Accepts no connection for so many milliseconds. Those that are open stay open. */
  readonly shut: (ms: number) => Effect.Effect<void>
}

const listen = (
  host: string,
  port: number,
  onConnection: (socket: Socket) => void
): Effect.Effect<Server, NodeJS.ErrnoException> =>
  Effect.callback((resume) => {
    // A client that has sent all it will send may still want its answer.
    const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection)
    server.once("error", (error) => resume(Effect.fail(error)))
    server.listen({ host, port, backlog: 4096 }, () => resume(Effect.succeed(server)))
    return Effect.sync(() => void server.close())
  })

const explain = (host: string, port: number, { code = "unknown" }: NodeJS.ErrnoException): FaultsError => {
  const where = `${host} port ${port}`
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `${where} is in use: choose another port, or 0 for a free one`,
    EACCES: `this user may not listen on ${where}: choose a port above 1023`
  }
  return new FaultsError({ message: messages[code] ?? `cannot listen on ${where}: ${code}` })
}

// A port that is free for a moment may be taken by the far end of somebody's connection, which soon gives it back.
const again = Schedule.spaced("20 millis")

/** Listens until the scope closes; then all connections end. */
export const make = Effect.fnUntraced(function* (
  host: string,
  port: number,
  onConnection: (socket: Socket) => void
): Effect.fn.Return<Door, FaultsError, Scope.Scope> {
  const open = new Set<Socket>()
  const accept = (socket: Socket) => {
    open.add(socket)
    // What breaks, closes; who uses the socket sees that.
    socket.on("error", () => undefined).once("close", () => open.delete(socket))
    onConnection(socket)
  }
  let hasEnded = false
  let server = yield* Effect.mapError(listen(host, port, accept), (error) => explain(host, port, error))
  yield* Effect.addFinalizer(() =>
    Effect.callback<void>((resume) => {
      hasEnded = true
      for (const socket of open) socket.destroy()
      server.close(() => resume(Effect.void))
    })
  )
  // A server that listens on TCP has such an address.
  const bound = (server.address() as AddressInfo).port
  const reopen = Effect.map(Effect.retry(listen(host, bound, accept), again), (opened) => {
    server = opened
    if (hasEnded) server.close()
  })
  return {
    port: bound,
    shut: (ms) =>
      Effect.suspend(() => {
        if (!server.listening) return Effect.void
        server.close()
        return Effect.andThen(Effect.sleep(ms), Effect.orDie(reopen))
      })
  }
})
