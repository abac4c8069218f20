/** The payload of every job, and the clock that stamps it. */
import type { Payload } from "./Store.ts"

/** About 500 bytes of JSON. */
export const payload: Payload = { to: "somebody@example.org", template: "welcome", text: "x".repeat(430) }

/** Milliseconds of the monotonic clock, the same in every process of the machine. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6

/** A payload that says when it was sent. */
export const stamped = (): Payload => ({ ...payload, sentAt: monotonicMs() })
