/**
 * Many claims or acks by one call. effect-mq's drivers have no such call, so each is made by itself, one after the other: what
 * they do is that of as many single calls, and not one atomic step.
 */
import { acked, type AckResult, type ClaimedJob, type JobStore as Ours, type Limits } from "@jobwire/protocol"
import { Effect } from "effect"
import { jobBytes } from "./Pages.ts"

/** Claims until there is nothing for a token, or the next job might make the answer too big. */
export const claimMany = (claim: Ours.Service["claim"], limits: Limits.Limits): Ours.Service["claimMany"] =>
  Effect.fnUntraced(function* ({ lockDurationMs, names, queue, tokens }) {
    const jobs: Array<ClaimedJob> = []
    let bytes = 0
    for (const token of tokens) {
      // How big a job is shows when it is claimed, so there must be room for any.
      if (jobs.length > 0 && bytes + mostBytes(limits) > limits.pageBytes) break
      const result = yield* claim({ queue, names, token, lockDurationMs })
      if (result._tag === "Empty") {
        const { nextRunAt, wakeToken } = result
        return { jobs, empty: { nextRunAt, wakeToken } }
      }
      jobs.push({ token, job: result.job })
      bytes += jobBytes(result.job)
    }
    return { jobs, empty: undefined }
  })

const mostBytes = (limits: Limits.Limits): number => limits.payloadBytes + limits.exitBytes + limits.metadataBytes

/** Acks in order; the error of one is its result. */
export const ackMany =
  (ack: Ours.Service["ack"]): Ours.Service["ackMany"] =>
  (acks) =>
    Effect.forEach(acks, ({ id, outcome, token }) =>
      Effect.match(ack(id, token, outcome), {
        onFailure: (error): AckResult => error,
        onSuccess: () => acked
      })
    )
