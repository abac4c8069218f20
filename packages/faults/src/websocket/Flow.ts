/** One direction of a tunnel: its messages, each passed on or hit. */
import { Effect } from "effect"
import { type Copy, noRoom } from "../Copy.ts"
import type { Decision, DecisionOf } from "../Decision.ts"
import { writePart } from "../http/Cut.ts"
import { nextChunk } from "../Reading.ts"
import type { RequestHead } from "../upstream/Head.ts"
import type { Workings } from "../Workings.ts"
import { sendApart } from "./Apart.ts"
import type { Line } from "./Line.ts"
import type { Silence } from "./Silence.ts"
import { type Piece, Splitter } from "./Splitter.ts"

/** The two ends of a tunnel. */
export interface Tunnel {
  readonly workings: Workings
  /** The number of the client's connection. */
  readonly connection: number
  /** The request by which it was opened. */
  readonly head: RequestHead
  readonly client: Line
  readonly server: Line
  readonly silence: Silence
}

/** A message that is on its way. */
interface Message {
  readonly n: number
  readonly decision: Decision | undefined
  /** What has passed of it, if it is to be repeated. */
  readonly copy: Copy | undefined
}

/** Ends both connections of a tunnel, the client's by a reset. */
const end = ({ client, server }: Tunnel): Effect.Effect<void> =>
  Effect.sync(() => {
    client.socket.resetAndDestroy()
    server.socket.destroy()
  })

/** The messages of one direction. */
export class Flow {
  private readonly tunnel: Tunnel
  private readonly target: "to-server" | "to-client"
  private readonly from: Line
  private readonly to: Line
  private readonly splitter = new Splitter()
  private message: Message | undefined

  constructor(tunnel: Tunnel, target: "to-server" | "to-client") {
    this.tunnel = tunnel
    this.target = target
    const isToServer = target === "to-server"
    this.from = isToServer ? tunnel.client : tunnel.server
    this.to = isToServer ? tunnel.server : tunnel.client
  }

  /** Carries until the connection ends. */
  readonly carry: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    const { socket } = this.from
    while (true) {
      const chunk = yield* nextChunk(socket)
      yield* this.tunnel.silence.over
      if (chunk === undefined) break
      for (const piece of this.splitter.take(chunk)) {
        yield* this.take(piece)
        yield* this.tunnel.silence.over
      }
    }
    if (socket.readableEnded) this.to.socket.end()
    else this.to.socket.destroy()
  }).pipe(Effect.ensuring(Effect.sync(() => this.message?.copy?.drop())))

  private take(piece: Piece): Effect.Effect<void> {
    if (piece.isControl) return this.to.write(piece.bytes)
    return Effect.gen({ self: this }, function* () {
      if (piece.begins) yield* this.begin(piece)
      yield* this.pass(piece)
      if (piece.ends) yield* this.finish()
    })
  }

  /** A message begins: it gets its number, and waits if it has to. */
  private begin(piece: Piece): Effect.Effect<void> {
    const { connection, silence, workings } = this.tunnel
    const { isLast, opcode, payload } = piece.frame
    const what = `${opcode === 1 ? "text" : "binary"} of ${payload}${isLast ? "" : " and more"} bytes`
    const { decision, n } = workings.judge(this.target, connection, what)
    const isCopied = decision?.kind === "repeat" || decision?.kind === "late-repeat"
    this.message = { n, decision, copy: isCopied ? workings.copy() : undefined }
    return Effect.andThen(this.wait(decision, silence), this.to.turns.take(1))
  }

  private wait(decision: Decision | undefined, silence: Silence): Effect.Effect<unknown> {
    const { connection, workings } = this.tunnel
    switch (decision?.kind) {
      case "delay":
        return Effect.sleep(decision.ms)
      case "reorder":
        return this.overtaking.wait(connection, decision.ms)
      case "half-open":
        return decision.side === "request" ? workings.outstanding.while(silence.of(decision.ms)) : Effect.void
      default:
        return Effect.void
    }
  }

  private get overtaking() {
    const { toClient, toServer } = this.tunnel.workings.overtaking
    return this.target === "to-server" ? toServer : toClient
  }

  private pass(piece: Piece): Effect.Effect<void> {
    const { message, tunnel } = this
    const decision = message?.decision
    message?.copy?.add(piece.bytes)
    switch (decision?.kind) {
      case "drop-request":
      case "drop-answer":
        return Effect.void
      case "cut":
        return Effect.andThen(writePart(this.to.socket, piece.bytes, decision.share), end(tunnel))
      default:
        return this.to.write(piece.bytes, piece.ends ? () => this.overtaking.passed(tunnel.connection) : undefined)
    }
  }

  /** A message has ended: what is to be done behind it is done, and the next one may come. */
  private finish(): Effect.Effect<void> {
    const { message } = this
    this.message = undefined
    const done = Effect.andThen(this.to.turns.release(1), Effect.void)
    return message?.decision === undefined ? done : Effect.andThen(this.behind(message, message.decision), done)
  }

  private behind({ copy, n }: Message, decision: Decision): Effect.Effect<void> {
    const { silence, workings } = this.tunnel
    switch (decision.kind) {
      case "drop-request":
      case "drop-answer":
        return decision.silent ? Effect.void : end(this.tunnel)
      case "half-open":
        return decision.side === "answer" ? this.meanwhile(silence.of(decision.ms)) : Effect.void
      case "repeat":
      case "late-repeat":
        if (copy?.isWhole === true) return this.again(n, copy, decision)
        return Effect.sync(() => workings.log.skipped(n, noRoom))
      default:
        return Effect.void
    }
  }

  private again(n: number, copy: Copy, decision: DecisionOf<"repeat" | "late-repeat">): Effect.Effect<void> {
    const isApart = decision.apart && this.target === "to-server"
    if (decision.kind === "late-repeat") {
      const put = (bytes: Buffer) => (isApart ? this.apart(bytes, false) : this.putLate(n, bytes))
      return this.meanwhile(
        copy.use((bytes) =>
          Effect.andThen(
            Effect.sleep(decision.ms),
            Effect.suspend(() => put(bytes))
          )
        )
      )
    }
    if (!isApart) return copy.use((bytes) => this.to.write(bytes))
    return this.meanwhile(copy.use((bytes) => this.apart(bytes, decision.answer === "second")))
  }

  /** Does something beside what comes next. */
  private meanwhile(effect: Effect.Effect<unknown>): Effect.Effect<void> {
    const { outstanding, run } = this.tunnel.workings
    return Effect.sync(() => void run(outstanding.while(effect)))
  }

  private putLate(n: number, bytes: Buffer): Effect.Effect<void> {
    const { silence, workings } = this.tunnel
    if (!this.to.hasEnded) return Effect.andThen(silence.over, this.to.put(bytes))
    return Effect.sync(() => workings.log.skipped(n, "its connection has ended"))
  }

  private apart(bytes: Buffer, isAnswerWanted: boolean): Effect.Effect<void> {
    const { client, connection, head, workings } = this.tunnel
    return Effect.scoped(sendApart(workings.upstreams, head, bytes, workings.settings().copyBytes)).pipe(
      Effect.flatMap((answer) => (answer !== undefined && isAnswerWanted ? client.put(answer) : Effect.void)),
      Effect.catch(({ message }) => Effect.sync(() => workings.log.trouble(connection, message)))
    )
  }
}
