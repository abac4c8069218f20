/**
 * All calls of a store over one socket. Messages are gathered until the current turn of the event loop ends and then
 * written together: with many callers a system call for each message costs more than the messages.
 */
import { RpcMessage, RpcSerialization } from "effect/rpc"
import type { Socket } from "effect/socket"
import { now } from "../LiveClock.ts"
import { CallList, type OpenCall } from "./CallList.ts"

const { encode } = RpcSerialization.ndjson.makeUnsafe()

/** The text of a message on the wire: a line of JSON. */
// The serialization is JSON, whose text is a string.
export const encodeMessage = (message: RpcMessage.FromClientEncoded): string => encode(message) as string

const ping = encodeMessage(RpcMessage.constPing)

// The `readyState` of a socket that takes messages.
const open = 1

// With so many the write begins, though more may come: the server works on these while the others are made.
const fewTogether = 16

// No more than this is put together, so that a long message goes alone and a frame is no longer than its message.
const writeLength = 65_536

/** The calls of one store, and the socket that carries them while there is one. */
export class Multiplexer {
  /** Calls that wait for a socket. */
  readonly unsent = new CallList()
  /** Calls that the server should answer soon. */
  readonly sent = new CallList()
  /** Calls that the server answers when something happens. */
  readonly parked = new CallList()

  #socket: Socket.WebSocketLike | undefined
  #notices: Array<string> = []
  #flushing = false

  /** Takes a call; it is sent at once, or on the next socket. */
  submit(call: OpenCall): void {
    this.unsent.add(call, now())
    if (this.unsent.size % fewTogether === 0) this.#flush()
    else this.#flushSoon()
  }

  /** Forgets a call whose caller has gone, and tells the server if it knows of it. */
  cancel(id: string | number): void {
    if (this.unsent.take(id) === undefined && this.settle(id) !== undefined) this.abandon(id)
  }

  /** Tells the server that nobody waits for this answer any more. */
  abandon(id: string | number): void {
    this.#notices.push(encodeMessage({ _tag: "Interrupt", requestId: id }))
    this.#flushSoon()
  }

  /** Takes out the call that an answer is for; none when nobody waits for it any more. */
  settle(id: string | number): OpenCall | undefined {
    return this.sent.take(id) ?? this.parked.take(id)
  }

  /** Asks the server for a sign of life. */
  ping(): void {
    this.#notices.push(ping)
    this.#flushSoon()
  }

  /** From now on calls go through this socket, those that wait first. */
  attach(socket: Socket.WebSocketLike): void {
    this.#socket = socket
    this.#flush()
  }

  /** The socket is no more to be used. */
  detach(): void {
    this.#socket = undefined
    this.#notices = []
  }

  /** Takes out every call that was sent: its answer is lost with the socket. */
  takeSent(): ReadonlyArray<OpenCall> {
    return [...this.sent.takeAll(), ...this.parked.takeAll()]
  }

  #flushSoon(): void {
    if (this.#flushing || this.#socket === undefined) return
    this.#flushing = true
    queueMicrotask(() => this.#flush())
  }

  #flush(): void {
    this.#flushing = false
    const socket = this.#socket
    // What a closing socket would swallow can wait for the next one.
    if (socket === undefined || socket.readyState !== open) return
    const notices = this.#notices
    this.#notices = []
    write(socket, [...notices, ...this.#takeToSend()])
  }

  *#takeToSend(): Generator<string> {
    const at = now()
    for (const call of this.unsent.takeAll()) {
      const list = call.openEnded ? this.parked : this.sent
      list.add(call, at)
      yield call.message
    }
  }
}

const write = (socket: Socket.WebSocketLike, messages: ReadonlyArray<string>): void => {
  let text = ""
  for (const message of messages) {
    if (text !== "" && text.length + message.length > writeLength) {
      socket.send(text)
      text = ""
    }
    text += message
  }
  if (text !== "") socket.send(text)
}
