/** Nothing stays behind a store whose layer is closed: a program that used one ends by itself. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { stubStore } from "../../../test/support/stub-store.ts"
import { serve } from "./support/jobwire.ts"
import { accepting, messagesIn } from "./support/misbehaving.ts"

const script = fileURLToPath(new URL("support/once.ts", import.meta.url))

interface End {
  /** What was still there when the program had nothing more to wait for. */
  readonly left: ReadonlyArray<string>
  /** How long after the store was closed that was. */
  readonly afterMs: number
}

/** Runs the program to its own end; one that goes on is killed, which is an error here as an unhandled rejection is. */
const run = (...args: ReadonlyArray<string>): Effect.Effect<End, Error> =>
  Effect.callback((resume) => {
    const options = { timeout: 25_000 }
    execFile(process.execPath, ["--conditions=jobwire:source", script, ...args], options, (error, stdout) =>
      resume(error === null ? Effect.succeed(JSON.parse(stdout)) : Effect.fail(error))
    )
  })

const answering = stubStore({ pausedQueues: () => Effect.succeed([]), awaitWake: () => Effect.never })

describe("a program that used a store", () => {
  for (const entry of ["main", "node"]) {
    for (const transport of ["websocket", "http"]) {
      it.live(`ends by itself: ${entry}, ${transport}`, () =>
        Effect.gen(function* () {
          const server = yield* serve(answering)
          const { afterMs, left } = yield* run(entry, transport, server.url)
          assert.deepStrictEqual(left, [])
          assert.isBelow(afterMs, 5_000)
        })
      )
    }
  }

  it.live("ends by itself also when the server does not take part in the close: node, websocket", () =>
    Effect.gen(function* () {
      const url = yield* accepting((socket, request) => {
        socket.on("message", (data) => {
          for (const { id, tag } of messagesIn(data)) {
            const exit = { _tag: "Exit", requestId: id, exit: { _tag: "Success", value: [] } }
            if (tag === "pausedQueues") socket.send(`${JSON.stringify(exit)}\n`)
            // The interruption comes last before the close; from here on the server reads no more.
            if (tag === undefined) request.socket.pause()
          }
        })
      })
      const { afterMs, left } = yield* run("node", "websocket", url)
      assert.deepStrictEqual(left, [])
      assert.isBelow(afterMs, 5_000)
    })
  )
})
