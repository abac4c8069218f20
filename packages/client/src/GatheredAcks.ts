/**
 * Acks that are made in one moment go as one message: a worker that runs many jobs at once ends many of them between two looks
 * at the network, and a message costs far more than an ack. Every caller still gets its own result, as if it had been alone.
 */
import type { Ack, AckResult, JobNotFoundError, JobStore, JobStoreError, LockLostError } from "@jobwire/protocol"
import { Cause, type Context, Effect, type Exit, Fiber, Option } from "effect"
import { bytesAtMost } from "./ChunkedCalls.ts"
import { chunksOf } from "./Chunks.ts"

// With so many the message begins, though more may come: the server works on these while the others are made.
const mostTogether = 64

// An ack with a big exit goes alone: there the message is not what costs.
const mostBytes = 200_000

type Settled = Effect.Effect<void, JobStoreError | JobNotFoundError | LockLostError>

/** A caller of `ack`. */
interface Caller {
  readonly ack: Ack
  readonly context: Context.Context<never>
  readonly resume: (settled: Settled) => void
  /** The call that was made for it and others, once there is one. */
  call: Call | undefined
}

/** A call for several callers. */
interface Call {
  readonly fiber: Fiber.Fiber<ReadonlyArray<AckResult>, JobStoreError>
  /** How many still wait for it. */
  callers: number
}

/** An `ack` that makes one `ackMany` of the calls of one turn of the event loop; one that is alone stays an `ack`. */
export const gatherAcks = (
  { ack, ackMany }: Pick<JobStore.Service, "ack" | "ackMany">,
  maxMessageBytes: number
): JobStore.Service["ack"] => {
  const limits = { length: mostTogether, bytes: Math.min(mostBytes, maxMessageBytes / 4) }
  let waiting: Array<Caller> = []
  let isScheduled = false

  const alone = ({ id, outcome, token }: Ack): Settled => ack(id, token, outcome)

  const together = (callers: ReadonlyArray<Caller>, context: Context.Context<never>): void => {
    const fiber = Effect.runForkWith(context)(ackMany(callers.map((caller) => caller.ack)))
    const call: Call = { fiber, callers: callers.length }
    for (const caller of callers) caller.call = call
    fiber.addObserver((exit) => {
      for (const [index, caller] of callers.entries()) caller.resume(ownResult(exit, index, alone(caller.ack)))
    })
  }

  const send = (): void => {
    const callers = waiting
    waiting = []
    for (const chunk of callers.length < 2 ? [callers] : chunksOf(callers, limits, ({ ack }) => bytesAtMost(ack))) {
      const [first, ...others] = chunk
      if (first === undefined) continue
      // In the end of the caller's own fiber, as if nothing had been between.
      if (others.length === 0) first.resume(alone(first.ack))
      else together(chunk, first.context)
    }
  }

  const sendSoon = (): void => {
    if (isScheduled) return
    isScheduled = true
    queueMicrotask(() => {
      isScheduled = false
      send()
    })
  }

  const leave = (caller: Caller): Effect.Effect<void> =>
    Effect.suspend(() => {
      const { call } = caller
      waiting = waiting.filter((other) => other !== caller)
      // Others may wait for the same call.
      return call === undefined || --call.callers > 0 ? Effect.void : Fiber.interrupt(call.fiber)
    })

  return (id, token, outcome) =>
    Effect.withFiber((fiber) =>
      Effect.callback((resume) => {
        const caller: Caller = { ack: { id, token, outcome }, context: fiber.context, resume, call: undefined }
        waiting.push(caller)
        if (waiting.length >= mostTogether) send()
        else sendSoon()
        return leave(caller)
      })
    )
}

/**
 * What a call means for one of its callers. An error that the same call would meet again may be about one of the acks only, so
 * each is then made alone, which does no harm where the call was carried out after all.
 */
const ownResult = (
  exit: Exit.Exit<ReadonlyArray<AckResult>, JobStoreError>,
  index: number,
  alone: Settled
): Settled => {
  if (exit._tag === "Failure") {
    const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
    return error === undefined || error.isRetryable ? Effect.failCause(exit.cause) : alone
  }
  const result = exit.value[index]
  if (result === undefined) return alone
  return result._tag === "Acked" ? Effect.void : Effect.fail(result)
}
