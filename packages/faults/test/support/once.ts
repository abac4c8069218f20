/** A program that sends much through a proxy that does everything, and must then end by itself. */
import { Effect } from "effect"
import { Faults } from "../../src/index.ts"
import { connect, send } from "./clients.ts"
import * as Servers from "./servers.ts"

const soon = <A>(effect: Effect.Effect<A>) => Effect.timeoutOption(effect, 300)

const program = Effect.gen(function* () {
  const [http, sockets] = [yield* Servers.http(), yield* Servers.webSocket()]
  const settings = { rate: 0.5, seed: 9, delayMs: 20, lateMs: 20, halfOpenMs: 20, refuseMs: 20, balancerMs: 20 }
  const proxy = yield* Faults.start({ upstreams: http.url, ...settings })
  const lines = yield* Faults.start({ upstreams: sockets.url, ...settings })
  const talk = Effect.gen(function* () {
    const peer = yield* connect(lines.url)
    const first = yield* soon(peer.seen)
    if (first._tag === "None" || first.value._tag !== "Open") return
    for (const text of ["a", "b", "c"]) peer.socket.send(text, () => undefined)
    yield* soon(peer.seen)
  }).pipe(Effect.scoped)
  const round = Effect.forEach(
    Array.from({ length: 50 }),
    () => Effect.all([soon(send(proxy.url, { body: "x" })), talk], { concurrency: 2 }),
    { concurrency: 10 }
  )
  const hits = Effect.gen(function* () {
    const [one, two] = [yield* proxy.counts, yield* lines.counts]
    return Object.fromEntries(Faults.kinds.map((kind) => [kind, one.hits[kind] + two.hits[kind]]))
  })
  // Until there was some of every kind. Then one proxy ends calmed down, and one in the middle of it.
  const all = yield* Effect.repeat(Effect.andThen(round, hits), {
    until: (hits) => Object.values(hits).every((count) => count > 0),
    times: 40
  })
  yield* proxy.calm
  return all
})

const hits = await Effect.runPromise(Effect.scoped(program))
const endedAt = performance.now()

process.on("exit", () => {
  const left = process.getActiveResourcesInfo().filter((resource) => /Timeout|TCP|Immediate|FS/.test(resource))
  console.log(JSON.stringify({ hits, left, afterMs: Math.round(performance.now() - endedAt) }))
})
