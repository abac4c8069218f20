/** What the histories of a test have reached: a test that never gets somewhere finds nothing there. */
import { type OperationName, operationNames } from "@jobwire/protocol"
import { assert } from "vitest"
import type { WaitCounts } from "../waiters.ts"
import { flowBranches } from "./flowBranches.ts"
import { jobBranches } from "./jobBranches.ts"
import type { Seen } from "./seen.ts"

/** The errors that histories meet, beside those of the job's own state. */
const failures: Partial<Readonly<Record<OperationName, ReadonlyArray<string>>>> = {
  enqueue: ["JobStoreError"],
  enqueueMany: ["JobStoreError"],
  claim: ["JobStoreError"],
  claimMany: ["JobStoreError"],
  ack: ["JobStoreError", "JobNotFoundError", "LockLostError"],
  release: ["JobNotFoundError", "LockLostError"],
  recoverStalled: ["JobStoreError"],
  retry: ["JobNotFoundError", "JobNotRetryableError"],
  cancel: ["JobNotFoundError", "JobNotCancellableError"],
  promote: ["JobNotFoundError", "JobNotPromotableError"],
  upsertSchedule: ["JobStoreError"],
  tickSchedule: ["JobStoreError"],
  list: ["JobStoreError"],
  listChildResults: ["JobStoreError"],
  flowSweepWork: ["JobStoreError"],
  peekOutbox: ["JobStoreError"]
}

const branches = Object.entries({ ...jobBranches, ...flowBranches })

// A wait is no call that is answered at once: it is counted by how it ends.
const answers = operationNames
  .filter((name) => name !== "awaitWake")
  .flatMap((name) => ["Success", ...(failures[name] ?? [])].map((tag) => `${name} → ${tag}`))

const wakes = [
  "enqueue",
  "enqueueMany",
  "replace",
  "ack",
  "ackMany",
  "release",
  "recoverStalled",
  "promote",
  "retry",
  "resume",
  "tickSchedule",
  "recordChildResults"
]

const all: ReadonlyArray<string> = [...answers, ...branches.map(([name]) => name)]

/** Counts what is seen. */
export class Coverage {
  readonly waits: WaitCounts = { atOnce: 0, parked: 0, woken: 0, early: 0, failed: 0, causes: new Map(wakes.map((name) => [name, 0])) }
  readonly #counts = new Map(all.map((name) => [name, 0]))

  readonly seen = (seen: Seen): void => {
    const { answer, call } = seen
    this.#count(`${call.name} → ${answer._tag === "Success" ? answer._tag : answer.error._tag}`)
    for (const [name, holds] of branches) {
      if (holds(seen)) this.#count(name)
    }
  }

  #count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** What was reached and how often, the rarest first. */
  get rarest(): ReadonlyArray<readonly [string, number]> {
    const { atOnce, causes, woken } = this.waits
    return [
      ...this.#counts,
      ...Array.from(causes, ([cause, count]) => [`a wait ends by ${cause}`, count] as const),
      ["a wait ends at once", atOnce] as const,
      ["a wait ends later", woken] as const
    ].toSorted(([, one], [, other]) => one - other)
  }

  /** Asserts that everything was reached, and that waits do not end without a cause but rarely. */
  check(): void {
    const { early, parked } = this.waits
    const missed = this.rarest.filter(([, count]) => count === 0).map(([name]) => name)
    assert.deepStrictEqual(missed, [], "the histories never came to these")
    assert.isAtMost(early / parked, 0.02, `${early} of ${parked} waits ended without a cause`)
  }
}
