/** Clients that park a wait each and stay; started by `parked.ts`, which kills them. */
import { RemoteJobStore } from "@jobwire/client/node"
import type { JobStore } from "@jobwire/protocol"
import { Effect, type Scope } from "effect"

interface Order {
  readonly url: string
  readonly transport: "websocket" | "http"
  readonly count: number
}

const client = Effect.fn("bench.client")(function* ({ transport, url }: Order, index: number) {
  const store: JobStore.Service = yield* RemoteJobStore.make({ url, transport })
  const queue = `idle-${index}`
  const claim = yield* store.claim({ queue, names: ["none"], token: `t-${index}`, lockDurationMs: 1000 })
  if (claim._tag === "Claimed") return yield* Effect.die("the queue was not empty")
  yield* Effect.forkScoped(store.awaitWake([queue], claim.wakeToken))
})

const park = Effect.fn("bench.park")(function* (order: Order): Effect.fn.Return<never, unknown, Scope.Scope> {
  const start = performance.now()
  const indices = Array.from({ length: order.count }, (_, index) => index)
  yield* Effect.forEach(indices, (index) => client(order, index), { concurrency: 50, discard: true })
  // A call after the last wait was sent is answered after it was parked on the same server.
  yield* Effect.sleep(200)
  process.send?.({ parkedMs: performance.now() - start })
  return yield* Effect.never
})

process.once("message", (order: Order) => {
  Effect.runFork(Effect.scoped(park(order)))
})
