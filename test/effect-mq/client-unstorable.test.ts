/** Runs that have ended and whose outcome the store refuses. */
import { assert, describe, expect, it } from "@effect/vitest"
import { type AckOutcome, invalidArgument, JobStoreError, type Limits, limitExceeded } from "@jobwire/protocol"
import { Cause, Effect, Exit, Schema } from "effect"
import { Job, JobStore as Theirs } from "effect-mq"
import { adapt, id, request } from "../support/adapted-store.ts"

const Sum = Job.make("Sum", {
  payload: { numbers: Schema.Array(Schema.Finite) },
  success: Schema.Finite,
  error: Schema.String
})

const messageOf = (exit: unknown): string => {
  const decoded = Schema.decodeUnknownSync(Sum.exitSchema)(exit)
  assert(Exit.isFailure(decoded))
  return String(Cause.squash(decoded.cause))
}

// The first ack meets the refusal, if there is one.
const acks = (limits: Partial<Limits.Limits> = {}, refusal?: JobStoreError) => {
  let refusals = refusal === undefined ? 0 : 1
  const seen: Array<AckOutcome> = []
  const store = adapt(
    {
      ack: (_id, _token, outcome) =>
        refusal !== undefined && refusals-- > 0 ? Effect.fail(refusal) : Effect.sync(() => void seen.push(outcome))
    },
    limits
  )
  return { seen, store }
}

const child = (childKey: string, fields: Partial<Theirs.EnqueueRequest>) => ({
  childKey,
  storeKey: "store",
  request: request({ id: Theirs.JobId(childKey), ...fields })
})

const fanOut = (...children: ReadonlyArray<Theirs.FlowChildSpec>): Theirs.AckOutcome => ({
  _tag: "FanOut",
  failFast: false,
  children
})

describe("an outcome that the store refuses", () => {
  it.effect("ends a complete or failed run as failed, with an exit that effect-mq reads and that says why", () =>
    Effect.gen(function* () {
      for (const _tag of ["Complete", "Fail"] as const) {
        const { seen, store } = acks({ exitBytes: 1000 })
        yield* store.ack(id, "token", { _tag, exit: "x".repeat(2000) })
        assert(seen[0]?._tag === "Fail")
        expect(messageOf(seen[0].exit)).toContain("outcome.exit has 2002 bytes, and the limit is 1000")
      }
    })
  )

  it.effect("retries a failed run as it would have, when its error holds what databases cannot keep", () =>
    Effect.gen(function* () {
      const { seen, store } = acks()
      yield* store.ack(id, "token", { _tag: "Retry", delayMs: 5, exit: { message: "a\u0000b" } })
      assert(seen[0]?._tag === "Retry")
      expect(seen[0].delayMs).toBe(5)
      expect(messageOf(seen[0].exit)).toContain("NUL")
    })
  )

  it.effect("fails a flow whose children are too many or cannot be kept, and no other", () =>
    Effect.gen(function* () {
      const many = acks({ batchLength: 1 })
      yield* many.store.ack(id, "token", fanOut(child("a", {}), child("b", {})))
      assert(many.seen[0]?._tag === "Fail")
      expect(messageOf(many.seen[0].exit)).toContain("outcome.children has 2 items, and the limit is 1")

      const bad = acks()
      yield* bad.store.ack(id, "token", fanOut(child("a", { payload: "\uD800" })))
      assert(bad.seen[0]?._tag === "Fail")
      expect(messageOf(bad.seen[0].exit)).toContain("surrogate")

      for (const children of [[child("a", { id: undefined })], [child("a", {}), child("a", {})]]) {
        const { seen, store } = acks()
        expect(yield* Effect.flip(store.ack(id, "token", fanOut(...children)))).toBeInstanceOf(Theirs.JobStoreError)
        expect(seen).toEqual([])
      }
    })
  )

  it.effect("is refused by a server whose limits are lower just the same", () =>
    Effect.gen(function* () {
      const { seen, store } = acks({}, limitExceeded("outcome.exit", 20, 10, "bytes"))
      yield* store.ack(id, "token", { _tag: "Complete", exit: "twenty bytes of text" })
      expect(seen[0]?._tag).toBe("Fail")
    })
  )

  it.effect("stays refused when the fault is not the exit's", () =>
    Effect.gen(function* () {
      const fault = new JobStoreError({ message: "disk full", reason: { _tag: "DriverFault", transient: true } })
      const { seen, store } = acks({}, fault)
      const error = yield* Effect.flip(store.ack(id, "token", { _tag: "Complete", exit: 1 }))
      expect(error.message).toBe("disk full")
      expect(seen).toEqual([])

      const nameless = acks({}, invalidArgument("id", "must not be empty"))
      yield* Effect.flip(nameless.store.ack(id, "token", { _tag: "Complete", exit: undefined }))
      expect(nameless.seen).toEqual([])
    })
  )
})
