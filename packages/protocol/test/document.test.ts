/** The protocol's document and the code say the same of operations, states, records and errors. */
import {
  JobRecord,
  JobState,
  JobStoreError,
  JobStoreErrorReason,
  operationNames,
  operations,
  type OperationName
} from "@jobwire/protocol"
import type { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { rows, section } from "./document.ts"

/** The line under an operation's name. */
const signature = (name: OperationName): string => section(`### ${name}`).trim().split("\n\n")[0] ?? ""

const errorTags = (name: OperationName): ReadonlyArray<string> => {
  const { error } = operations[name]
  const members: ReadonlyArray<Schema.Top> = "members" in error ? error.members : [error]
  return members.map((member) => String(member.ast.annotations?.identifier ?? member)).toSorted()
}

describe("the operations in the document", () => {
  for (const name of operationNames) {
    it(`${name}: parameters, scope and repeat are those of the table`, () => {
      const { parameters, repeat, scope } = operations[name]
      const line = signature(name).replaceAll("\n", " ")
      const given = /^`\((.*?)\) →/.exec(line)?.[1]
      expect(given, `the signature of ${name}: ${line}`).toBeDefined()
      // A parameter's name stands before a colon, a comma or the end, outside of braces.
      const outside = given?.replaceAll(/\{[^}]*\}/g, "")
      const found = outside === "" ? [] : outside?.split(",").map((part) => /\w+/.exec(part)?.[0])
      expect(found).toEqual(parameters.map(([parameter]) => parameter))
      expect(line).toContain(`scope \`${scope}\``)
      expect(line).toContain(`repeat _${repeat}_`)
    })

    it(`${name}: the errors beside JobStoreError are those of the table`, () => {
      const documented = Array.from(signature(name).matchAll(/`(\w+Error)`/g), ([, tag]) => tag)
      expect([...documented, "JobStoreError"].toSorted()).toEqual(errorTags(name))
    })
  }
})

describe("states and records in the document", () => {
  it("has every state, and no other", () => {
    expect(rows(section("### States")).map(([state]) => state)).toEqual(expect.arrayContaining([...JobState.literals]))
    expect(rows(section("### States"))).toHaveLength(JobState.literals.length)
  })

  it("has every field of a job record, and no other", () => {
    const documented = rows(section("### A job record"))
      .flatMap(([fields]) => fields?.split(",") ?? [])
      .map((field) => field.trim().replace("?", ""))
    expect(documented.toSorted()).toEqual(Object.keys(JobRecord.fields).toSorted())
  })
})

/** One reason of each kind, and of those whose answer depends on a field one of each. */
const reasons: ReadonlyArray<{
  readonly reason: JobStoreErrorReason
  readonly retryable: boolean
  readonly happened: boolean
}> = [
  { reason: { _tag: "InvalidArgument", field: "f" }, retryable: false, happened: false },
  { reason: { _tag: "LimitExceeded", field: "f", limit: 1, size: 2 }, retryable: false, happened: false },
  { reason: { _tag: "Unauthorized" }, retryable: false, happened: false },
  { reason: { _tag: "Forbidden", scope: "admin" }, retryable: false, happened: false },
  { reason: { _tag: "Unavailable", url: undefined, sent: false }, retryable: true, happened: false },
  { reason: { _tag: "Unavailable", url: "u", sent: true }, retryable: true, happened: true },
  { reason: { _tag: "DeadlineExceeded", url: "u", afterMs: 1 }, retryable: true, happened: true },
  { reason: { _tag: "DriverFault", transient: true }, retryable: true, happened: false },
  { reason: { _tag: "DriverFault", transient: false }, retryable: false, happened: false },
  { reason: { _tag: "OutcomeUnknown" }, retryable: true, happened: true },
  { reason: { _tag: "CallConflict", key: "k" }, retryable: false, happened: false },
  { reason: { _tag: "Defect" }, retryable: false, happened: true }
]

const words: Record<string, ReadonlyArray<boolean>> = {
  no: [false],
  yes: [true],
  "if sent": [false, true],
  "if transient": [true, false]
}

describe("errors in the document", () => {
  const documented = rows(section("## Errors")).filter((cells) => cells.length === 5)
  const tags = JobStoreErrorReason.members.map((member) => member.fields._tag.schema.literal)

  it("has every reason, and no other", () => {
    expect(documented.map(([tag]) => tag)).toEqual(tags)
  })

  for (const tag of tags) {
    it(`${tag}: whether it can be tried again, and may have happened, is what the code says`, () => {
      const row = documented.find(([found]) => found === tag) ?? []
      const ofTag = reasons.filter(({ reason }) => reason._tag === tag)
      const seen = ofTag.map(({ reason }) => new JobStoreError({ message: "m", reason }))
      expect(new Set(seen.map((error) => error.isRetryable))).toEqual(new Set(words[row[3] ?? ""]))
      expect(new Set(seen.map((error) => error.mayHaveHappened))).toEqual(new Set(words[row[4] ?? ""]))
      for (const { happened, reason, retryable } of ofTag) {
        const error = new JobStoreError({ message: "m", reason })
        expect([error.isRetryable, error.mayHaveHappened]).toEqual([retryable, happened])
      }
    })
  }
})
