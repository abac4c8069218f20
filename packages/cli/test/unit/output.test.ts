/** Text, tables, exits and the log of a worker for people. */
import { JobRecord } from "@jobwire/protocol"
import { describe, expect, it } from "vitest"
import { failureExit, readExit, successExit } from "../../src/exec/ExitValue.ts"
import { Output } from "../../src/exec/Output.ts"
import { backoffDelayMs } from "../../src/exec/Backoff.ts"
import { table } from "../../src/output/Table.ts"
import { cut, oneLine, printable } from "../../src/output/Text.ts"
import { relative } from "../../src/output/Time.ts"
import { describe as describeEvent } from "../../src/output/WorkerLog.ts"

describe("text", () => {
  it("cannot steer a terminal", () => {
    expect(printable("a\u001B[31mb\u0007\r\u0085\u202Ec")).toBe("a\\u001b[31mb\\u0007\\u000d\\u0085\\u202ec")
    expect(printable("tab\tand\nline")).toBe("tab\tand\nline")
    expect(oneLine("tab\tand\nline")).toBe("tab\\tand\\nline")
  })

  it("is cut by columns, not by code units", () => {
    expect(cut("abcdef", 4)).toBe("abc…")
    expect(cut("漢字漢字", 5)).toBe("漢字…")
    expect(cut("ab", 4)).toBe("ab")
  })
})

describe("a table", () => {
  const columns = [{ heading: "ID" }, { heading: "NAME", shrinkTo: 4 }, { heading: "N", align: "right" }] as const

  it("is as wide as it needs", () => {
    expect(
      table(
        columns,
        [
          ["1", "long name", "5"],
          ["22", "b", "10"]
        ],
        Number.POSITIVE_INFINITY
      )
    ).toBe("ID  NAME        N\n1   long name   5\n22  b          10")
  })

  it("takes from the columns that may shrink, and no further", () => {
    expect(table(columns, [["1", "long name", "5"]], 12)).toBe("ID  NAME   N\n1   long…  5")
    expect(table(columns, [["1", "long name", "5"]], 3)).toBe("ID  NAME  N\n1   lon…  5")
  })
})

describe("a moment", () => {
  it.each([
    [1000, "now"],
    [-59_000, "1m ago"],
    [7_201_000, "in 2h"]
  ])("%d is %s", (at, text) => expect(relative(at, 1000)).toBe(text))
})

describe("an exit", () => {
  it("of a program is read back", () => {
    expect(readExit(successExit({ n: 1 }))).toEqual({ summary: '{"n":1}', details: '{\n  "n": 1\n}' })
    expect(readExit(successExit("two\nlines"))).toEqual({ summary: '"two\\nlines"', details: "two\nlines" })
    expect(readExit(failureExit({ message: "it broke", exitCode: 1, stderr: "" }))).toEqual({
      summary: "it broke",
      details: "it broke"
    })
  })

  it("of an Effect handler is read too", () => {
    const cause = [{ _tag: "Fail", error: { _tag: "NoRoute", to: "x" } }, { _tag: "Interrupt" }]
    expect(readExit({ _tag: "Failure", cause }).summary).toBe('{"_tag":"NoRoute","to":"x"}; Interrupt')
  })

  it("of another shape is shown as it is", () => {
    expect(readExit([1]).summary).toBe("[1]")
    expect(readExit(null).summary).toBe("null")
  })
})

describe("the output of a program", () => {
  it("is whole up to its limit", () => {
    const output = new Output(6, 3)
    output.push(Buffer.from("abc"))
    output.push(Buffer.from("dé\u0000").subarray(0, 3))
    expect({ isWhole: output.isWhole, text: output.text(), bytes: output.bytes }).toEqual({
      isWhole: true,
      text: "abcdé",
      bytes: 6
    })
  })

  it("keeps its tail past the limit, in characters that are whole", () => {
    const output = new Output(4, 4)
    for (const chunk of ["aaaa", "bbbb", "ééé"]) output.push(Buffer.from(chunk))
    expect({ isWhole: output.isWhole, text: output.text(), bytes: output.bytes }).toEqual({
      isWhole: false,
      text: "éé",
      bytes: 14
    })
    expect(output.tail(3)).toBe("é")
  })

  it("holds no more than it must", () => {
    const output = new Output(1000, 100)
    for (let index = 0; index < 10_000; index++) output.push(Buffer.alloc(100, "x"))
    expect(output.text()).toHaveLength(100)
    expect(output.bytes).toBe(1_000_000)
  })
})

describe("a backoff", () => {
  it("grows, and never past what a store takes", () => {
    const policy = { _tag: "exponential", delayMs: 1000, factor: 10 } as const
    expect([1, 2, 3].map((run) => backoffDelayMs(policy, run))).toEqual([1000, 10_000, 100_000])
    expect(backoffDelayMs(policy, 500)).toBe(3_155_760_000_000)
    expect(backoffDelayMs({ _tag: "fixed", delayMs: 5, factor: undefined }, 9)).toBe(5)
    expect(backoffDelayMs(undefined, 1)).toBe(0)
  })
})

describe("the log of a worker", () => {
  const job = JobRecord.make({
    id: "1",
    name: "mail",
    queue: "default",
    metadata: {},
    state: "active",
    priority: 0,
    attemptsMax: 3,
    attemptsMade: 1,
    stalledCount: 0,
    cancelRequested: false,
    runAt: 0,
    enqueuedAt: 0
  })

  it("says how a run ended and what comes next", () => {
    const event = {
      _tag: "Ended",
      job,
      outcome: "retried",
      tookMs: 1500,
      reason: "exit code 3",
      retryInMs: 2000
    } as const
    expect(describeEvent(event)).toBe("retried mail 1 (run 2 of 3, 1.5s): exit code 3, again in 2s")
  })
})
