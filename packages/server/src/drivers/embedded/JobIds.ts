/** The ids of jobs whose producers gave none. */
import { type EnqueueRequest, JobStoreError, type Limits, Validation } from "@jobwire/protocol"
import { Effect } from "effect"
import type { IdGenerator } from "./StoreOptions.ts"

/** How often an application's generator may give an id that is taken before the enqueue is given up. */
export const mostDraws = 5

let lastTime = 0
let ofThisTime = 0

/**
 * A version 7 UUID: its first 48 bits are the time and the next 12 count within it, so that ids of one process grow and lie
 * close together in an index; 62 bits are random, so that nobody guesses one and no caller can have used it.
 */
export const drawId = (now: number): string => {
  const ms = Math.max(0, Math.trunc(now))
  ofThisTime = ms === lastTime ? (ofThisTime + 1) & 0xfff : 0
  lastTime = ms
  const time = hex(ms, 12)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(ofThisTime, 3)}${crypto.randomUUID().slice(18)}`
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0").slice(-digits)

/** Draws from an application's generator, and checks what it gave. */
export const drawFrom = (
  generator: IdGenerator,
  request: EnqueueRequest,
  limits: Limits.Limits
): Effect.Effect<string, JobStoreError> =>
  Effect.flatMap(
    Effect.suspend(() => {
      const drawn = generator(request)
      return Effect.isEffect(drawn) ? drawn : Effect.succeed(drawn)
    }),
    (id) => {
      const refusal = Validation.validate("getJob", [id], limits)
      return refusal === undefined ? Effect.succeed(id) : Effect.fail(fault(`gave a bad id: ${refusal.message}`))
    }
  )

/** The error after the last draw. */
export const allTaken = (id: string | undefined): JobStoreError =>
  fault(`gave an id that is taken ${mostDraws} times in a row, the last time ${JSON.stringify(id)}`)

const fault = (problem: string): JobStoreError =>
  new JobStoreError({
    message: `nothing was enqueued: the store's idGenerator ${problem}`,
    reason: { _tag: "DriverFault", transient: false }
  })
