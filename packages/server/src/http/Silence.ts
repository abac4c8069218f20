/**
 * Finds sockets whose peer is gone without a goodbye: a machine that lost power, a network that forgot the connection. A
 * peer shows that it lives by anything it sends, a ping among others; what says nothing for too long is closed.
 */
import { Context, Duration, Effect } from "effect"
import type { Socket } from "node:net"
import { sleep } from "../LiveClock.ts"

/** How long a peer may be silent. A client that waits sends a ping every few seconds. */
export const LongestSilence = Context.Reference<Duration.Input>("@jobwire/server/LongestSilence", {
  defaultValue: () => "90 seconds"
})

// So often in that time it is looked: whoever is silent is found at most a sixth later.
const looks = 6

interface Watched {
  bytes: number
  since: number
}

/** Watches connections until its scope closes. */
export const make = Effect.gen(function* () {
  const longestMs = Duration.toMillis(yield* LongestSilence)
  const watched = new Map<Socket, Watched>()

  const look = () => {
    const now = performance.now()
    for (const [socket, seen] of watched) {
      if (socket.bytesRead !== seen.bytes) {
        seen.bytes = socket.bytesRead
        seen.since = now
      } else if (now - seen.since >= longestMs) {
        socket.destroy()
      }
    }
  }

  yield* Effect.forkScoped(Effect.forever(Effect.andThen(sleep(longestMs / looks), Effect.sync(look))))

  return {
    /** Watches a connection. Answers with a way to stop that. */
    watch: (socket: Socket | undefined): (() => void) => {
      if (socket === undefined) return () => undefined
      watched.set(socket, { bytes: socket.bytesRead, since: performance.now() })
      return () => void watched.delete(socket)
    }
  }
})
