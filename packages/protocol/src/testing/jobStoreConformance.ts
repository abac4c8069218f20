import { describe } from "@effect/vitest"
import type { Layer } from "effect"
import type { JobStore } from "../JobStore.ts"
import { ack } from "./ack.ts"
import { ackMany } from "./ackMany.ts"
import { ackReplay } from "./ackReplay.ts"
import { callReplay } from "./callReplay.ts"
import { cancel } from "./cancel.ts"
import { claim } from "./claim.ts"
import { claimMany } from "./claimMany.ts"
import { claimManyBounds } from "./claimManyBounds.ts"
import { claimManyReplay } from "./claimManyReplay.ts"
import { claimReplay } from "./claimReplay.ts"
import { concurrency } from "./concurrency.ts"
import { counts } from "./counts.ts"
import { dedupe } from "./dedupe.ts"
import { dedupeReplace } from "./dedupeReplace.ts"
import { enqueue } from "./enqueue.ts"
import { enqueueMany } from "./enqueueMany.ts"
import { errors } from "./errors.ts"
import { flowChildren } from "./flowChildren.ts"
import { flowFanOut } from "./flowFanOut.ts"
import { flowParents } from "./flowParents.ts"
import { flowReports } from "./flowReports.ts"
import { flowSettling } from "./flowSettling.ts"
import { flowSweep } from "./flowSweep.ts"
import { jsonRefusals } from "./jsonRefusals.ts"
import { jsonValues } from "./jsonValues.ts"
import { type Test, testWith } from "./kit.ts"
import { leases } from "./leases.ts"
import { ledger } from "./ledger.ts"
import { limits } from "./limits.ts"
import { list } from "./list.ts"
import { listPages } from "./listPages.ts"
import { outbox } from "./outbox.ts"
import { outboxDelivery } from "./outboxDelivery.ts"
import { pause } from "./pause.ts"
import { promote } from "./promote.ts"
import { refusals } from "./refusals.ts"
import { release } from "./release.ts"
import { remove } from "./remove.ts"
import { retention } from "./retention.ts"
import { retry } from "./retry.ts"
import { schedules } from "./schedules.ts"
import { scheduleTicks } from "./scheduleTicks.ts"
import { stalls } from "./stalls.ts"
import { text } from "./text.ts"
import { wake } from "./wake.ts"

// Each concern registers its own block of tests.
const concerns: ReadonlyArray<(test: Test) => void> = [
  // The way of a job.
  enqueue,
  enqueueMany,
  dedupe,
  dedupeReplace,
  claim,
  claimReplay,
  claimMany,
  claimManyReplay,
  claimManyBounds,
  ack,
  ackReplay,
  callReplay,
  ackMany,
  release,
  leases,
  stalls,
  cancel,
  retry,
  promote,
  remove,
  pause,
  retention,
  wake,
  concurrency,
  // Looking, schedules, flows, values.
  list,
  listPages,
  counts,
  ledger,
  schedules,
  scheduleTicks,
  flowFanOut,
  flowReports,
  flowSettling,
  flowSweep,
  flowChildren,
  flowParents,
  outbox,
  outboxDelivery,
  limits,
  refusals,
  jsonRefusals,
  jsonValues,
  text,
  errors
]

/**
 * Registers the tests that a job store must pass, in a vitest file:
 *
 *     import { jobStoreConformance } from "@jobwire/protocol/testing"
 *
 *     jobStoreConformance("MyJobStore", () => MyJobStore.layer)
 *
 * Every test builds the layer anew and must find the store empty. The suite runs under `TestClock`, so a driver must take
 * all time from the Effect `Clock`. Needs `vitest` and `@effect/vitest`.
 */
export const jobStoreConformance = <E>(name: string, layer: () => Layer.Layer<JobStore, E>): void => {
  describe(`JobStore: ${name}`, () => {
    const test = testWith(layer)
    for (const concern of concerns) concern(test)
  })
}
