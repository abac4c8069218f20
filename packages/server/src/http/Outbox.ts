/**
 * Gathers the answers of one moment into one frame. A busy socket has many at once, and a frame is a system call: sending
 * them together is where a good part of the throughput comes from. An idle one waits for nothing.
 */

import { Effect } from "effect"
import type { Socket } from "node:net"

/** Past this many characters a frame is sent without waiting for more. */
const fullFrame = 64 * 1024

/** With so many answers as well: the peer works on these while the others are made. */
const fewTogether = 16

/** The answers that are about to be sent on one socket. */
export interface Outbox {
  /** Adds a line, which ends with a line feed. */
  readonly add: (line: string) => void
  /** Sends what is there now. */
  readonly flush: () => void
}

/** An outbox that hands its frames to `send`. */
export const make = (send: (frame: string) => void): Outbox => {
  let frame = ""
  let lines = 0
  let scheduled = false
  const flush = () => {
    scheduled = false
    if (frame === "") return
    const full = frame
    frame = ""
    lines = 0
    send(full)
  }
  return {
    add: (line) => {
      frame += line
      if (frame.length >= fullFrame || ++lines >= fewTogether) return flush()
      if (scheduled) return
      scheduled = true
      queueMicrotask(flush)
    },
    flush
  }
}

/** Past this many bytes that a peer has not taken, nothing more is read from it. */
const mostUnsent = 8 * 1024 * 1024

/** Waits until a peer has taken enough of what was sent to it. */
export const roomIn = (connection: Socket | undefined): Effect.Effect<void> =>
  connection === undefined || connection.writableLength < mostUnsent
    ? Effect.void
    : Effect.callback<void>((resume) => {
        const done = () => resume(Effect.void)
        connection.once("drain", done).once("close", done)
        return Effect.sync(() => connection.off("drain", done).off("close", done))
      })
