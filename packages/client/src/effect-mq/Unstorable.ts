/**
 * A run that has ended must not run again because the store refuses its exit. effect-mq drops an ack that is refused
 * again and again; the lease then runs out and the job, whose work is done, is run once more. So a run whose outcome breaks
 * the contract (too long, or text that databases cannot keep) is acknowledged with an exit that says so in its place.
 */
import type { AckOutcome, JobStoreError } from "@jobwire/protocol"
import { Exit, Schema } from "effect"

// The part of effect-mq's format of exits that does not depend on the job.
const DefectExit = Schema.toCodecJson(Schema.Exit(Schema.Void, Schema.Never, Schema.Defect()))

const defectExit = (message: string): unknown => Schema.encodeSync(DefectExit)(Exit.die(new Error(message)))

const isRefusal = (error: JobStoreError): boolean =>
  error.reason._tag === "InvalidArgument" || error.reason._tag === "LimitExceeded"

/** Whether a fan-out is refused for what it would store: the contract keeps such a job active when an id or a key is bad. */
const isUnstorableFanOut = ({ reason }: JobStoreError): boolean =>
  reason._tag === "LimitExceeded" || (reason._tag === "InvalidArgument" && /\.request\.(?!id$)/.test(reason.field))

/**
 * The outcome to acknowledge with after the store refused `outcome`, or `undefined` when the refusal has to stand. What
 * was complete becomes failed, as effect-mq does itself with a success that it cannot encode; a failed run is retried or
 * not as before; a fan-out becomes failed, as effect-mq does with children that are not valid.
 */
export const storable = (outcome: AckOutcome, refusal: JobStoreError): AckOutcome | undefined => {
  switch (outcome._tag) {
    case "Complete":
    case "Fail":
      if (outcome.exit === undefined || !isRefusal(refusal)) return undefined
      return { _tag: "Fail", exit: defectExit(`the exit of this run could not be stored: ${refusal.message}`) }
    case "Retry":
      if (outcome.exit === undefined || !isRefusal(refusal)) return undefined
      return { ...outcome, exit: defectExit(`the exit of this run could not be stored: ${refusal.message}`) }
    case "FanOut":
      if (!isUnstorableFanOut(refusal)) return undefined
      return { _tag: "Fail", exit: defectExit(`the children of this flow could not be stored: ${refusal.message}`) }
    case "Cancelled":
      return undefined
  }
}
