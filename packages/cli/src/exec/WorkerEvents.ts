/** What a worker tells about its work. */
import type { JobRecord } from "@jobwire/protocol"

/** How a run ended, seen from the worker. */
export type RunOutcome = "completed" | "retried" | "failed" | "cancelled" | "released" | "lost"

/** Something that happened. */
export type WorkerEvent =
  | { readonly _tag: "Ready"; readonly queue: string; readonly names: ReadonlyArray<string> }
  | { readonly _tag: "Started"; readonly job: JobRecord }
  | {
      readonly _tag: "Ended"
      readonly job: JobRecord
      readonly outcome: RunOutcome
      readonly tookMs: number
      /** Why, when it did not complete. */
      readonly reason?: string | undefined
      /** When it runs again. */
      readonly retryInMs?: number | undefined
    }
  | { readonly _tag: "Recovered"; readonly id: string; readonly failed: boolean }
  | { readonly _tag: "Paused"; readonly queue: string }
  | { readonly _tag: "Unreachable"; readonly message: string }
  | { readonly _tag: "Reachable" }
  | { readonly _tag: "Draining"; readonly running: number }

/** Where events go. */
export type ReportEvent = (event: WorkerEvent) => void
