import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import {
  type Arguments,
  type Failure,
  JobNotCancellableError,
  JobNotFoundError,
  JobNotPromotableError,
  JobNotRetryableError,
  type JobStore,
  JobStoreError,
  type JobStoreErrorReason,
  JobStoreRpcs,
  LockLostError,
  type OperationName,
  operationNames,
  operations,
  Scope,
  type Success,
  toArguments,
  toPayload
} from "@jobwire/protocol"
import { Effect, Schema } from "effect"
import { samples } from "./samples.ts"

type Service = JobStore.Service

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/** Parameters without the difference between one that may be left out and one that may be `undefined`. */
type Explicit<Parameters extends ReadonlyArray<unknown>> = {
  [Index in keyof Parameters]-?: ExplicitFields<NonNullable<Parameters[Index]>>
}
type ExplicitFields<A> = A extends object ? Required<A> : A

/** The operations whose method takes, gives or fails with something else than the table says. */
type Differing = {
  [Name in OperationName]: Arguments<Name> extends Parameters<Service[Name]>
    ? Same<Explicit<Parameters<Service[Name]>>, Explicit<Arguments<Name>>> extends true
      ? Same<Effect.Success<ReturnType<Service[Name]>>, Success<Name>> extends true
        ? Same<Effect.Error<ReturnType<Service[Name]>>, Failure<Name>> extends true
          ? never
          : Name
        : Name
      : Name
    : Name
}[OperationName]

describe("the table of operations", () => {
  it("has the methods of the service, no more and no fewer, with their types", () => {
    expectTypeOf<keyof Service>().toEqualTypeOf<OperationName>()
    expectTypeOf<Differing>().toEqualTypeOf<never>()
    assert.lengthOf(operationNames, 34)
  })

  it("has a scope and a repeat for each operation", () => {
    for (const name of operationNames) {
      assert.isTrue(Schema.is(Scope)(operations[name].scope), name)
      assert.include(["safe", "remembered", "receipt"], operations[name].repeat, name)
    }
  })

  it("names the parameters of an operation differently", () => {
    for (const name of operationNames) {
      const names = operations[name].parameters.map(([parameter]) => parameter)
      assert.lengthOf(new Set(names), names.length, name)
    }
  })
})

describe("the group of procedures", () => {
  it("has exactly the names of the table, in its order", () => {
    assert.deepStrictEqual([...JobStoreRpcs.requests.keys()], [...operationNames])
  })

  it("has the schemas of the table", () => {
    for (const name of operationNames) {
      const rpc = rpcOf(name)
      assert.strictEqual(rpc.successSchema, operations[name].success, name)
      assert.strictEqual(rpc.errorSchema, operations[name].error, name)
      assert.deepStrictEqual(
        Object.keys((rpc.payloadSchema as Schema.Struct<Schema.Struct.Fields>).fields),
        operations[name].parameters.map(([parameter]) => parameter)
      )
    }
  })

  it("takes the arguments of a method by name, and gives them back in order", () => {
    assert.deepStrictEqual(toPayload("ack", ["id", "token", 1]), { id: "id", token: "token", outcome: 1 })
    assert.deepStrictEqual(toPayload("counts", []), { queue: undefined })
    assert.deepStrictEqual(toPayload("pausedQueues", []), {})
    assert.deepStrictEqual(toArguments("ack", { token: "t", outcome: 2, id: "i" }), ["i", "t", 2])
    assert.deepStrictEqual(toArguments("dueSchedules", {}), [])
  })
})

const rpcOf = (name: OperationName) => {
  const rpc = JobStoreRpcs.requests.get(name)
  return rpc ?? assert.fail(`there is no procedure ${name}`)
}

/** What a value becomes on its way as JSON text, and the text. */
const travel = <S extends Schema.Top>(schema: S, value: unknown) => {
  // None of the protocol's schemas needs a service.
  const codec = Schema.toCodecJson(schema) as unknown as Schema.Codec<unknown, unknown>
  return Effect.gen(function* () {
    const text = JSON.stringify(yield* Schema.encodeEffect(codec)(value)) as string | undefined
    return { text, value: yield* Schema.decodeUnknownEffect(codec)(text === undefined ? null : JSON.parse(text)) }
  })
}

describe("the codec", () => {
  for (const name of operationNames) {
    it.effect(`brings every call of ${name} across as it was`, () =>
      Effect.gen(function* () {
        assert.isNotEmpty(samples[name].calls)
        for (const args of samples[name].calls) {
          const payload = toPayload(name, args)
          const arrived = yield* travel(rpcOf(name).payloadSchema, payload)
          assert.deepStrictEqual(arrived.value, payload)
          // The payload decoded to an object, as `deepStrictEqual` has shown.
          assert.deepStrictEqual(toArguments(name, arrived.value as Record<string, unknown>), [...args])
          assert.notMatch(arrived.text ?? "", /undefined/)
        }
      })
    )

    it.effect(`brings every answer of ${name} across as it was`, () =>
      Effect.gen(function* () {
        assert.isNotEmpty(samples[name].answers)
        for (const answer of samples[name].answers) {
          assert.deepStrictEqual((yield* travel(rpcOf(name).successSchema, answer)).value, answer)
        }
      })
    )
  }

  it.effect("leaves absent fields out, and writes null as null", () =>
    Effect.gen(function* () {
      const { text } = yield* travel(operations.ack.parameters[2][1], { _tag: "Complete", exit: undefined })
      assert.strictEqual(text, '{"_tag":"Complete"}')
      const { text: withNull } = yield* travel(operations.ack.parameters[2][1], { _tag: "Complete", exit: null })
      assert.strictEqual(withNull, '{"_tag":"Complete","exit":null}')
    })
  )

  it.effect("fills what a request leaves out", () =>
    Effect.gen(function* () {
      const codec = Schema.toCodecJson(operations.enqueue.parameters[0][1])
      const decoded = yield* Schema.decodeUnknownEffect(codec)({ name: "job", queue: "queue", dedupe: { key: "k" } })
      assert.deepStrictEqual(decoded, {
        id: undefined,
        name: "job",
        queue: "queue",
        payload: undefined,
        metadata: {},
        priority: 0,
        attemptsMax: 1,
        backoff: undefined,
        keep: undefined,
        timeoutMs: undefined,
        dedupe: { key: "k", ttlMs: undefined, extend: false, replace: false },
        trace: undefined,
        parent: undefined,
        delayMs: 0
      })
    })
  )

  it.effect("ignores fields that a newer side has added", () =>
    Effect.gen(function* () {
      const codec = Schema.toCodecJson(operations.enqueue.success)
      const decoded = yield* Schema.decodeUnknownEffect(codec)({ id: "id", duplicate: false, newer: { a: 1 } })
      assert.deepStrictEqual(decoded, { id: "id", duplicate: false })
    })
  )

  it.effect("refuses numbers written as text, and what is no number in JSON", () =>
    Effect.gen(function* () {
      const codec = Schema.toCodecJson(operations.recoverStalled.parameters[0][1])
      for (const maxStalledCount of ["NaN", "Infinity", "1", null, 1.5]) {
        yield* Effect.flip(Schema.decodeUnknownEffect(codec)({ maxStalledCount }))
      }
    })
  )
})

const reasons: ReadonlyArray<JobStoreErrorReason> = [
  { _tag: "InvalidArgument", field: "f" },
  { _tag: "LimitExceeded", field: "f", limit: 1, size: 2 },
  { _tag: "Unauthorized" },
  { _tag: "Forbidden", scope: undefined },
  { _tag: "Forbidden", scope: "admin" },
  { _tag: "Unavailable", url: undefined, sent: true },
  { _tag: "Unavailable", url: "http://localhost", sent: false },
  { _tag: "DeadlineExceeded", url: undefined, afterMs: 5 },
  { _tag: "DriverFault", transient: true },
  { _tag: "DriverFault", transient: false },
  { _tag: "OutcomeUnknown" },
  { _tag: "CallConflict", key: "k" },
  { _tag: "Defect" }
]

const fieldsOf = (error: unknown) => Object.fromEntries(Object.entries(error ?? {}))

describe("errors", () => {
  const ownErrors = {
    JobNotFoundError: new JobNotFoundError({ jobId: "id" }),
    LockLostError: new LockLostError({ jobId: "id" }),
    JobNotRetryableError: new JobNotRetryableError({ jobId: "id", state: "active" }),
    JobNotCancellableError: new JobNotCancellableError({ jobId: "id", state: "completed" }),
    JobNotPromotableError: new JobNotPromotableError({ jobId: "id", state: "waiting-children" })
  }
  const classes = Object.fromEntries(Object.entries(ownErrors).map(([tag, error]) => [tag, error.constructor]))
  const errorsOf: Partial<Record<OperationName, ReadonlyArray<keyof typeof ownErrors>>> = {
    ack: ["JobNotFoundError", "LockLostError"],
    release: ["JobNotFoundError", "LockLostError"],
    retry: ["JobNotFoundError", "JobNotRetryableError"],
    cancel: ["JobNotFoundError", "JobNotCancellableError"],
    promote: ["JobNotFoundError", "JobNotPromotableError"]
  }

  for (const name of operationNames) {
    it.effect(`of ${name} arrive as instances of their class, and no others do`, () =>
      Effect.gen(function* () {
        const schema = rpcOf(name).errorSchema
        for (const reason of reasons) {
          const error = new JobStoreError({ message: "what happened", reason })
          const { value } = yield* travel(schema, error)
          assert.instanceOf(value, JobStoreError)
          assert.strictEqual(value.message, "what happened")
          assert.deepStrictEqual(value.reason, reason)
        }
        for (const [tag, error] of Object.entries(ownErrors)) {
          const isOwn = errorsOf[name]?.some((own) => own === tag) ?? false
          assert.strictEqual(Schema.is(schema)(error), isOwn, tag)
          if (!isOwn) continue
          const { value } = yield* travel(schema, error)
          assert.instanceOf(value, classes[tag] as unknown as new () => Error)
          assert.deepStrictEqual(fieldsOf(value), fieldsOf(error))
        }
      })
    )
  }

  it("say which job, in which state, and what would have been right", () => {
    for (const error of Object.values(ownErrors)) assert.include(error.message, '"id"')
    assert.include(ownErrors.JobNotRetryableError.message, "active")
    assert.include(ownErrors.JobNotCancellableError.message, "completed")
    assert.include(ownErrors.JobNotPromotableError.message, "waiting-children")
  })

  it("say whether trying again can help, and whether the call may have been carried out", () => {
    const verdicts = reasons.map((reason) => {
      const error = new JobStoreError({ message: "", reason })
      return [reason._tag, error.isRetryable, error.mayHaveHappened] as const
    })
    assert.deepStrictEqual(verdicts, [
      ["InvalidArgument", false, false],
      ["LimitExceeded", false, false],
      ["Unauthorized", false, false],
      ["Forbidden", false, false],
      ["Forbidden", false, false],
      ["Unavailable", true, true],
      ["Unavailable", true, false],
      ["DeadlineExceeded", true, true],
      ["DriverFault", true, false],
      ["DriverFault", false, false],
      ["OutcomeUnknown", true, true],
      ["CallConflict", false, false],
      ["Defect", false, true]
    ])
  })
})
