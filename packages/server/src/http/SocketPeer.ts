/** One WebSocket: its frames become messages, its answers frames. A peer that breaks the rules is told so and let go. */
import { Effect } from "effect"
import type { RpcMessage } from "effect/rpc"
import { Socket } from "effect/socket"
import { answerText } from "./AnswerText.ts"
import { CurrentDelivery, Delivery } from "./Delivery.ts"
import type { Drain } from "./Drain.ts"
import * as Envelope from "./Envelope.ts"
import * as Outbox from "./Outbox.ts"
import type { RpcProtocol } from "./RpcProtocol.ts"

// Codes of RFC 6455: the server goes away, a frame is not what it should be, a message breaks the rules.
const goingAway = new Socket.CloseEvent(1001, "the server is stopping")
const notJson = new Socket.CloseEvent(1007, "a frame holds lines of JSON in UTF-8")
const broken = (problem: string) => new Socket.CloseEvent(1008, problem)

// Bytes that are no UTF-8 are refused, as replacing them would keep something else than was sent.
const decoder = new TextDecoder("utf-8", { fatal: true })

/** The values of a frame, or `undefined` when a line of it is not JSON. */
const parse = (frame: string | Uint8Array): ReadonlyArray<unknown> | undefined => {
  try {
    const text = typeof frame === "string" ? frame : decoder.decode(frame)
    const end = text.indexOf("\n")
    if (end === text.length - 1) return [JSON.parse(text)]
    return text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line): unknown => JSON.parse(line))
  } catch {
    return undefined
  }
}

/** The way back to the peer. */
export interface Way {
  readonly write: (data: string | Socket.CloseEvent) => Effect.Effect<void, Socket.SocketError>
  /** Whether what is written can still reach it, as far as is known. */
  readonly isOpen: () => boolean
}

/** Takes a socket on. The result takes its frames; its calls run with the context of the fiber that hands them over. */
export const make = (rpc: RpcProtocol, drain: Drain["Service"], { isOpen, write }: Way) => {
  const outbox = Outbox.make((frame) => Effect.runFork(Effect.ignore(write(frame))))
  // The calls that were not answered yet.
  const running = new Map<string | number, Delivery>()

  const send = (answer: RpcMessage.FromServerEncoded) => {
    outbox.add(`${answerText(answer)}\n`)
    if (answer._tag !== "Exit") return
    const delivery = running.get(answer.requestId)
    if (delivery === undefined) return
    running.delete(answer.requestId)
    drain.running(-1)
    delivery.end(answer.exit._tag === "Success" && isOpen())
  }

  const close = (event: Socket.CloseEvent): Effect.Effect<void> =>
    Effect.suspend(() => {
      outbox.flush()
      return Effect.ignore(write(event))
    })

  const id = rpc.connect({ send, end: () => undefined })

  const onMessage = (value: unknown): Effect.Effect<void> => {
    const read = Envelope.read(value)
    if ("problem" in read) {
      const { id: call, problem } = read
      if (call === undefined || running.has(call)) return close(broken(problem))
      return Effect.sync(() => send(Envelope.brokenCall(call, problem)))
    }
    const { message } = read
    if (message._tag !== "Request") return rpc.receive(id, message)
    if (running.has(message.id)) return close(broken("two calls in flight have the same id"))
    const delivery = new Delivery()
    running.set(message.id, delivery)
    drain.running(1)
    return Effect.provideService(rpc.receive(id, message), CurrentDelivery, delivery)
  }

  return {
    onFrame: (frame: string | Uint8Array): Effect.Effect<void> => {
      const values = parse(frame)
      if (values === undefined) return close(notJson)
      return values.length === 1 ? onMessage(values[0]) : Effect.forEach(values, onMessage, { discard: true })
    },
    /** Sends what there is to send and says goodbye. */
    sayGoodbye: close(goingAway),
    /** The socket is gone, and with it everybody who waits for its answers. */
    onGone: (): void => {
      rpc.disconnect(id)
      for (const delivery of running.values()) delivery.end(false)
      drain.running(-running.size)
      running.clear()
    }
  }
}
