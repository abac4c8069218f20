/** Bytes that are kept to be sent again: of one message no more than `copyBytes`, of all together no more than `heldBytes`. */
import { Effect } from "effect"
import type { Settings } from "./Settings.ts"

/** How much all copies of a proxy hold together, in bytes. */
export interface Held {
  bytes: number
}

/** What is kept of one message while it passes. Once it is complete it can be taken, or else it is dropped. */
export class Copy {
  private readonly settings: () => Settings
  private readonly held: Held
  private chunks: Array<Buffer> = []
  private size = 0
  private isOver = false
  private isTaken = false

  constructor(settings: () => Settings, held: Held) {
    this.settings = settings
    this.held = held
  }

  /** Keeps some more. False when there is no room for it; then nothing of the message is kept. */
  add(bytes: Buffer): boolean {
    const { copyBytes, heldBytes } = this.settings()
    if (this.isOver) return false
    if (this.size + bytes.length > copyBytes || this.held.bytes + bytes.length > heldBytes) {
      this.release()
      return false
    }
    this.chunks.push(bytes)
    this.size += bytes.length
    this.held.bytes += bytes.length
    return true
  }

  /** Whether all that was added is here. */
  get isWhole(): boolean {
    return !this.isOver
  }

  /** Does something with all bytes; then they are let go. */
  use<A, E, R>(use: (bytes: Buffer) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    this.isTaken = true
    // A piece of its own: a chunk may be a small part of a big one.
    const bytes = Buffer.concat(this.chunks)
    this.chunks = []
    return Effect.ensuring(
      Effect.suspend(() => use(bytes)),
      Effect.sync(() => this.release())
    )
  }

  /** Lets go what nobody has taken. */
  drop(): void {
    if (!this.isTaken) this.release()
  }

  private release(): void {
    if (this.isOver) return
    this.isOver = true
    this.chunks = []
    this.held.bytes -= this.size
  }
}

/** Why a message is not repeated. */
export const noRoom = "there is no room for a copy of it (copyBytes, heldBytes)"
