/** Connections whose peer is gone without a goodbye. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect, createServer, type Server, type Socket } from "node:net"
import * as Silence from "../../src/http/Silence.ts"

const listen = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close())
)

/** Both ends of a connection. */
const pair = (server: Server) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly near: Socket; readonly far: Socket }>((resume) => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const far = connect(port, "127.0.0.1")
      far.on("error", () => undefined)
      server.once("connection", (near) => {
        near.resume()
        resume(Effect.succeed({ near, far }))
      })
    }),
    ({ far, near }) => Effect.sync(() => [far, near].forEach((socket) => socket.destroy()))
  )

const closed = (socket: Socket) =>
  Effect.callback<void>((resume) => void socket.once("close", () => resume(Effect.void)))

describe("a silent connection", () => {
  it.live("is cut, and one that says anything now and then is not", () =>
    Effect.gen(function* () {
      const server = yield* listen
      const silence = yield* Effect.provideService(Silence.make, Silence.LongestSilence, "300 millis")
      const quiet = yield* pair(server)
      const lively = yield* pair(server)
      const left = yield* pair(server)
      silence.watch(quiet.near)
      silence.watch(lively.near)
      silence.watch(left.near)()
      const pings = setInterval(() => lively.far.write("."), 30)
      yield* Effect.ensuring(
        closed(quiet.near),
        Effect.sync(() => clearInterval(pings))
      )
      assert.isFalse(lively.near.destroyed)
      assert.isFalse(left.near.destroyed)
    })
  )
})
