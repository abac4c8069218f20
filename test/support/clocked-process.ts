/**
 * The server of `clocked-server.ts` in its own process, and stores in it that a test reaches over the network while its clock
 * leads the server's: before each call the server's clock is set to the test's, and the call waits until that is done.
 */
import { RemoteJobStore } from "@jobwire/client/node"
import { JobStore, operationNames } from "@jobwire/protocol"
import { Clock, Effect, Layer } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** A server process and the way to set its clock. */
export interface ClockedProcess {
  readonly url: string
  readonly setClock: (now: number) => Promise<void>
  readonly stop: () => Promise<void>
}

const server = fileURLToPath(new URL("./clocked-server.ts", import.meta.url))

const clockOf = (child: ChildProcess) => {
  const waiting = new Map<number, () => void>()
  child.on("message", (message: { readonly seq?: number }) => {
    if (message.seq !== undefined) waiting.get(message.seq)?.()
  })
  let seq = 0
  return (now: number): Promise<void> =>
    new Promise((resolve) => {
      const mine = ++seq
      waiting.set(mine, () => {
        waiting.delete(mine)
        resolve()
      })
      child.send({ now, seq: mine })
    })
}

/** Starts a server on a free port and waits until it listens. */
export const start = async (driver: "memory" | "sqlite"): Promise<ClockedProcess> => {
  const folder = mkdtempSync(join(tmpdir(), "jobwire-clocked-"))
  const child = fork(server, [driver, folder], { execArgv: ["--conditions=jobwire:source"] })
  const exit = once(child, "exit")
  const [ready] = await Promise.race([once(child, "message"), exit.then(([code]) => [{ code }])])
  if (ready.port === undefined) throw new Error(`the server ended before it listened: ${JSON.stringify(ready)}`)
  const stop = async () => {
    child.disconnect()
    await exit
    rmSync(folder, { recursive: true, force: true })
  }
  return { url: `http://127.0.0.1:${ready.port}`, setClock: clockOf(child), stop }
}

/** The store with the server's clock led by that of each caller. */
const led = (store: JobStore.Service, process: ClockedProcess): JobStore.Service => {
  const wrapped: Record<string, unknown> = {}
  const lead = Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.promise(() => process.setClock(now)))
  for (const name of operationNames) {
    // Every operation is a function to an effect; which one does not matter here.
    const call = store[name] as (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>
    wrapped[name] = (...args: ReadonlyArray<unknown>) => Effect.andThen(lead, call(...args))
  }
  // Each method was wrapped and kept its type.
  return wrapped as unknown as JobStore.Service
}

let stores = 0

/** A fresh store in the process, over the network. */
export const layer = (
  process: () => ClockedProcess,
  transport: "websocket" | "http"
): Layer.Layer<JobStore.JobStore, unknown> =>
  Layer.unwrap(
    Effect.sync(() => {
      const running = process()
      const remote = RemoteJobStore.layer({ url: running.url, store: `store-${++stores}`, transport })
      return Layer.effect(
        JobStore.JobStore,
        Effect.map(JobStore.JobStore, (store) => led(store, running))
      ).pipe(Layer.provide(remote))
    })
  )
