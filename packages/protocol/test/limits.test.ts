/** The limits: their documented values, their schema and what validation does with them agree. */
import { type Arguments, EnqueueRequest, Json, Limits, type OperationName, Validation } from "@jobwire/protocol"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { rows, section } from "./document.ts"

const names = Object.keys(Limits.defaults).toSorted()

describe("limits and the document", () => {
  it("have the documented defaults", () => {
    const documented = rows(section("## Limits")).map(([name, value]) => [name, Number(value?.replaceAll(",", ""))])
    expect(Object.fromEntries(documented)).toEqual(Limits.defaults)
  })

  it("have one field each in the schema", () => {
    expect(Object.keys(Limits.LimitsSchema.fields).toSorted()).toEqual(names)
    expect(Schema.decodeUnknownSync(Limits.LimitsSchema)(Limits.defaults)).toEqual(Limits.defaults)
  })

  it("have the documented depth of values", () => {
    expect(section("## Values")).toContain(`deeper than ${Json.maxDepth} levels`)
  })

  it("have the documented first and last integers and moments", () => {
    expect(section("## Limits")).toContain("8,640,000,000,000,000 ms")
    expect(check("upsertSchedule", [{ ...schedule, nextRunAt: 8_640_000_000_000_000 }])).toBeUndefined()
    expect(check("upsertSchedule", [{ ...schedule, nextRunAt: 8_640_000_000_000_001 }])?.reason._tag).toBe(
      "InvalidArgument"
    )
    expect(check("enqueue", [{ ...request, priority: 2 ** 31 - 1 }])).toBeUndefined()
    expect(check("enqueue", [{ ...request, priority: 2 ** 31 }])?.reason._tag).toBe("InvalidArgument")
  })
})

const request = EnqueueRequest.make({ name: "n", queue: "q" })

const schedule = {
  ...request,
  key: "k",
  jobName: "n",
  cron: undefined,
  tz: undefined,
  everyMs: 1,
  group: undefined,
  nextRunAt: 0
}

const check = <Name extends OperationName>(operation: Name, args: Arguments<Name>, limits = Limits.defaults) =>
  Validation.validate(operation, args, limits)

const report = (exit: string) =>
  ({ flowId: "f", childKey: "c", outcome: "completed", exit, failedReason: undefined }) as const

/** For each limit that validation holds: a call that has this size in the place that the limit is about. */
const calls: Partial<Record<keyof Limits.Limits, (size: number, limits: Limits.Limits) => ReturnType<typeof check>>> = {
  idLength: (size, limits) => check("getJob", ["x".repeat(size)], limits),
  nameLength: (size, limits) => check("pause", ["x".repeat(size)], limits),
  keyLength: (size, limits) => check("removeSchedule", ["x".repeat(size)], limits),
  tokenLength: (size, limits) => check("release", ["id", "x".repeat(size)], limits),
  opaqueLength: (size, limits) => check("deleteOutbox", [["x".repeat(size)]], limits),
  payloadBytes: (size, limits) => check("enqueue", [{ ...request, payload: "x".repeat(size - 2) }], limits),
  exitBytes: (size, limits) => check("ack", ["id", "token", { _tag: "Complete", exit: "x".repeat(size - 2) }], limits),
  metadataBytes: (size, limits) =>
    check("enqueue", [{ ...request, metadata: { k: "x".repeat(size - '{"k":""}'.length) } }], limits),
  batchLength: (size, limits) => check("enqueueMany", [Array.from({ length: size }, () => request)], limits),
  claimLength: (size, limits) =>
    check(
      "claimMany",
      [{ queue: "q", names: [], tokens: Array.from({ length: size }, (_, n) => `${n}`), lockDurationMs: 1 }],
      limits
    ),
  callBytes: (size, limits) => check("recordChildResults", [[report("x".repeat(size - 5)), report("x")]], limits),
  durationMs: (size, limits) => check("extendLocks", [[], size], limits)
}

// Pages are cut where they are read, so no argument can be over these.
const ofPages = ["pageBytes", "pageLength"]

describe("limits and validation", () => {
  it("are all held, but those of pages", () => {
    expect([...Object.keys(calls), ...ofPages].toSorted()).toEqual(names)
  })

  for (const [name, call] of Object.entries(calls)) {
    it(`${name}: what a deployment sets is what validation holds`, () => {
      const limits = { ...Limits.defaults, [name]: 40 }
      expect(call(40, limits)).toBeUndefined()
      expect(call(41, limits)?.reason).toMatchObject({ _tag: "LimitExceeded", limit: 40, size: 41 })
      expect(call(41, Limits.defaults)).toBeUndefined()
    })

    it(`${name}: a refusal says the field, the size and the limit in words`, () => {
      const { message, reason } = call(41, { ...Limits.defaults, [name]: 40 }) ?? {}
      expect(message).toContain("41")
      expect(message).toContain("40")
      expect(reason).toHaveProperty("field")
      if (reason?._tag === "LimitExceeded") expect(message?.startsWith(`${reason.field} `)).toBe(true)
    })
  }
})
