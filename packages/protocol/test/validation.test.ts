import { assert, describe, it } from "@effect/vitest"
import {
  type Ack,
  type EnqueueRequest,
  type JobStore,
  Limits,
  LockLostError,
  operationNames,
  Validation
} from "@jobwire/protocol"
import { Effect } from "effect"
import { badCalls } from "./bad-calls.ts"
import { plain, samples } from "./samples.ts"

const { defaults } = Limits

describe("validate", () => {
  for (const name of operationNames) {
    it(`passes good calls of ${name}`, () => {
      for (const args of samples[name].calls) {
        assert.isUndefined(Validation.validate(name, args, defaults), JSON.stringify(args))
      }
    })
  }

  it("refuses what breaks the contract, and names the field", () => {
    for (const { check, field, operation, reason } of badCalls) {
      const refusal = check(defaults)
      const named = refusal !== undefined && "field" in refusal.reason ? refusal.reason.field : "no field"
      const seen = `${refusal?.reason._tag} of ${named}`
      assert.strictEqual(seen, `${reason} of ${field}`, `${operation}: ${refusal?.message}`)
      assert.isFalse(refusal?.isRetryable)
      assert.isTrue(refusal?.message.startsWith(field), refusal?.message)
    }
  })

  it("has a call that it refuses for each operation with parameters", () => {
    const refused = new Set(badCalls.map(({ operation }) => operation))
    const passing = operationNames.filter((name) => !refused.has(name))
    assert.deepStrictEqual(passing, ["pausedQueues", "dueSchedules"])
  })

  it("counts names in UTF-16 units and values in bytes of UTF-8, and passes what is just at the limit", () => {
    const limits = { ...defaults, payloadBytes: 22, nameLength: 4 }
    const check = (fields: Partial<EnqueueRequest>) => {
      const reason = Validation.validate("enqueue", [{ ...plain, queue: "q", ...fields }], limits)?.reason
      return reason?._tag === "LimitExceeded" ? [reason.field, reason.limit, reason.size] : reason
    }
    assert.isUndefined(check({ name: "😀😀", payload: "ü".repeat(10) }))
    assert.deepStrictEqual(check({ name: "😀😀a" }), ["request.name", 4, 5])
    assert.deepStrictEqual(check({ payload: "ü".repeat(11) }), ["request.payload", 22, 24])
    assert.deepStrictEqual(check({ payload: ["ü".repeat(10)] }), ["request.payload", 22, 24])
  })

  it("passes values that fill their limits exactly", () => {
    const payload = "x".repeat(defaults.payloadBytes - 2)
    const exit = "x".repeat(defaults.exitBytes - 2)
    const metadata = { a: "x".repeat(defaults.metadataBytes - '{"a":""}'.length) }
    assert.isUndefined(Validation.validate("enqueue", [{ ...plain, payload, metadata }], defaults))
    assert.isUndefined(Validation.validate("ack", ["id", "token", { _tag: "Complete", exit }], defaults))
    const longest = { id: "x".repeat(defaults.idLength), name: "x".repeat(defaults.nameLength) }
    assert.isUndefined(Validation.validate("enqueue", [{ ...plain, ...longest }], defaults))
  })
})

/** A service that counts what reaches it. */
const counting = () => {
  const calls: Array<string> = []
  const service = Object.fromEntries(
    operationNames.map((name) => [name, () => Effect.sync(() => calls.push(name))])
    // Every operation is there; what it answers does not matter here.
  ) as unknown as JobStore.Service
  return { calls, service }
}

describe("validated", () => {
  it.effect("lets good calls through, and refuses the others before the service sees them", () =>
    Effect.gen(function* () {
      const { calls, service } = counting()
      const checked = Validation.validated(service, defaults)
      yield* checked.getJob("id")
      const error = yield* Effect.flip(checked.getJob(""))
      assert.strictEqual(error.reason._tag, "InvalidArgument")
      assert.deepStrictEqual(calls, ["getJob"])
    })
  )

  it.effect("checks every operation", () =>
    Effect.gen(function* () {
      const { calls, service } = counting()
      const checked = Validation.validated(service, defaults)
      for (const { call } of badCalls) yield* Effect.flip(call(checked))
      assert.deepStrictEqual(calls, [])
    })
  )

  it.effect("refuses arguments of another shape, as callers without types may send", () =>
    Effect.gen(function* () {
      const { calls, service } = counting()
      const checked = Validation.validated(service, defaults)
      // JSON text has no types either.
      const requests: ReadonlyArray<never> = JSON.parse('[null, 7, {"name":"a","queue":"b"}]')
      for (const request of requests) {
        const error = yield* Effect.flip(checked.enqueue(request))
        assert.strictEqual(error.reason._tag, "InvalidArgument")
      }
      assert.deepStrictEqual(calls, [])
    })
  )

  it.effect("refuses the acks of a call one by one, each in its place and in the words of ack", () =>
    Effect.gen(function* () {
      const reached: Array<ReadonlyArray<string>> = []
      const { service } = counting()
      const checked = Validation.validated(
        {
          ...service,
          ackMany: (acks) =>
            Effect.sync(() => {
              reached.push(acks.map(({ id }) => id))
              return acks.map(({ id }) => new LockLostError({ jobId: id }))
            })
        },
        defaults
      )
      const outcome = { _tag: "Complete", exit: 1 } as const
      // A caller without types may send anything.
      const shapeless: Ack = JSON.parse("null")
      const results = yield* checked.ackMany([
        { id: "a", token: "t", outcome },
        { id: "", token: "t", outcome },
        { id: "b", token: "t", outcome },
        { id: "c", token: "t", outcome: { _tag: "Fail", exit: [Number.NaN] } },
        shapeless,
        { id: "d", token: "t", outcome }
      ])
      assert.deepStrictEqual(
        results.map((result) =>
          result._tag === "LockLostError"
            ? result.jobId
            : result._tag === "JobStoreError" && "field" in result.reason
              ? result.reason.field
              : result._tag
        ),
        ["a", "id", "b", "outcome.exit[0]", "ack", "d"]
      )
      assert.deepStrictEqual(reached, [["a", "b", "d"]])
      assert.lengthOf(yield* checked.ackMany([shapeless]), 1)
      assert.lengthOf(reached, 1)
    })
  )

  it("checks a service once by the same limits, and again by others", () => {
    const checked = Validation.validated(counting().service, defaults)
    assert.strictEqual(Validation.validated(checked, defaults), checked)
    assert.notStrictEqual(Validation.validated(checked, { ...defaults, idLength: 5 }), checked)
  })

  it.effect("applies other limits", () =>
    Effect.gen(function* () {
      const checked = Validation.validated(counting().service, { ...defaults, idLength: 5 })
      yield* checked.getJob("12345")
      const error = yield* Effect.flip(checked.getJob("123456"))
      assert.deepStrictEqual(error.reason, { _tag: "LimitExceeded", field: "id", limit: 5, size: 6 })
      assert.strictEqual(error.message, "id has 6 characters, and the limit is 5")
    })
  )
})
