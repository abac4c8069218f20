/** A `jobwire serve` process on a free port, with a durable store in a folder of its own. */
import { Context, Effect, Layer } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const cli = fileURLToPath(new URL("../../packages/cli/src/bin.ts", import.meta.url))

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "jobwire-serve-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const start = async (data: string) => {
  const child = spawn(process.execPath, ["--conditions=jobwire:source", cli, "serve", "--port", "0", "--data", data], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const { promise, reject, resolve } = Promise.withResolvers<string>()
  createInterface({ input: child.stdout }).on("line", (line) => {
    const url = /http:\/\/\S+/.exec(line)?.[0]
    if (url !== undefined) resolve(url)
  })
  child.once("exit", (code) => reject(new Error(`jobwire serve ended with ${code} before it was ready`)))
  return { child, url: await promise }
}

/** Where the server listens. */
export class JobwireServe extends Context.Service<JobwireServe, { readonly url: string }>()("test/JobwireServe") {
  /** Starts it, and stops it with SIGTERM. */
  static readonly layer: Layer.Layer<JobwireServe> = Layer.effect(
    JobwireServe,
    Effect.gen(function* () {
      const data = yield* folder
      const { url } = yield* Effect.acquireRelease(
        Effect.promise(() => start(data)),
        ({ child }) =>
          Effect.promise(async () => {
            if (child.exitCode !== null || child.signalCode !== null) return
            const exit = once(child, "exit")
            child.kill("SIGTERM")
            await exit
          })
      )
      return { url }
    })
  )
}
