/** One end of a tunnel: what is written to it, message by message. */
import { Effect, Semaphore } from "effect"
import type { Socket } from "node:net"

/** Writes to a socket. */
export class Line {
  readonly socket: Socket
  /** Whole messages are put in between the others, not into one. */
  readonly turns = Semaphore.makeUnsafe(1)

  constructor(socket: Socket) {
    this.socket = socket
  }

  /** Nothing that is written arrives any more. */
  get hasEnded(): boolean {
    return this.socket.destroyed || this.socket.writableEnded
  }

  /** Writes bytes, and waits while the peer takes none. `written` is called when they are on their way. */
  write(bytes: Buffer, written?: () => void): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.hasEnded) return Effect.void
      return this.socket.write(bytes, (error) => {
        if (error === null || error === undefined) written?.()
      })
        ? Effect.void
        : this.drained
    })
  }

  /** Writes a whole message when no other one is being written. */
  put(message: Buffer): Effect.Effect<void> {
    return Effect.raceFirst(this.turns.withPermits(1)(this.write(message)), this.closed)
  }

  private readonly drained: Effect.Effect<void> = Effect.callback((resume) => {
    const done = () => {
      this.socket.off("drain", done).off("close", done)
      resume(Effect.void)
    }
    if (this.socket.destroyed) return done()
    this.socket.once("drain", done).once("close", done)
  })

  private readonly closed: Effect.Effect<void> = Effect.callback((resume) => {
    const done = () => resume(Effect.void)
    if (this.socket.destroyed) return done()
    this.socket.once("close", done)
    return Effect.sync(() => void this.socket.off("close", done))
  })
}
