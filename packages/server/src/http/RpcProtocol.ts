/** The seam to effect/rpc that both transports share: messages of a client go in, answers come out under its number. */
import { Effect, Queue } from "effect"
import { type RpcMessage, RpcSerialization, RpcServer } from "effect/rpc"

/** The other side of one client: where its answers go. */
export interface Client {
  readonly send: (answer: RpcMessage.FromServerEncoded) => void
  /** All calls of a client that said it has no more are answered. */
  readonly end: () => void
}

/** What differs between transports. */
export interface Traits {
  /** Spans of the caller come inside the messages. */
  readonly supportsSpanPropagation: boolean
}

/** A protocol for `RpcServer.make`, and what a transport feeds it by. */
export const make = Effect.fnUntraced(function* (traits: Traits) {
  const disconnects = yield* Queue.make<number>()
  const clients = new Map<number, Client>()
  const feed: { receive: (id: number, message: RpcMessage.FromClientEncoded) => Effect.Effect<void> } = {
    receive: () => Effect.void
  }
  let nextId = 0

  const protocol = yield* RpcServer.Protocol.make((write) => {
    feed.receive = write
    return Effect.succeed({
      disconnects,
      send: (id, answer) => Effect.sync(() => clients.get(id)?.send(answer)),
      end: (id) => Effect.sync(() => clients.get(id)?.end()),
      clientIds: Effect.sync(() => new Set(clients.keys())),
      initialMessage: Effect.succeedNone,
      supportsAck: true,
      supportsTransferables: false,
      supportsNotifications: false,
      codecFor: RpcSerialization.json.codecFor,
      ...traits
    })
  })

  return {
    protocol,
    /** Takes a client on. */
    connect: (client: Client): number => {
      clients.set(nextId, client)
      return nextId++
    },
    /** Passes a message of a client on. Calls run with the context of the fiber that does this. */
    receive: (id: number, message: RpcMessage.FromClientEncoded) => feed.receive(id, message),
    /** Lets a client go whose calls were all answered. */
    forget: (id: number): void => void clients.delete(id),
    /** Lets a client go that went away, and interrupts its calls. */
    disconnect: (id: number): void => {
      clients.delete(id)
      Queue.offerUnsafe(disconnects, id)
    }
  }
})

/** See {@link make}. */
export interface RpcProtocol extends Effect.Success<ReturnType<typeof make>> {}
