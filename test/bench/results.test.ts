/** What the bench makes of its figures: runs are kept apart, parts are merged, and nothing is compared across runs. */
import { describe, expect, it } from "vitest"
import { type Comparison, compare } from "../../bench/report/comparisons.ts"
import { curvesOf, shareAt } from "../../bench/report/curves.ts"
import { renderMarkdown } from "../../bench/report/markdown.ts"
import { plotsOf } from "../../bench/report/plots.ts"
import {
  addRun,
  addTrouble,
  addValue,
  dropEmptyRuns,
  forgetTrouble,
  median,
  none,
  type Results
} from "../../bench/report/Results.ts"

const ours = "jobwire-postgres-websocket"

type Line = readonly [run: string, contender: string, figure: string, value: number]

const resultsOf = (lines: ReadonlyArray<Line>): Results =>
  lines.reduce((results, line) => addValue(results, ...line), none)

const drain: Comparison = { what: "drain", figure: "drain", ours, others: ["pg-boss", "bullmq"], called: "the others" }

describe("results", () => {
  it("gather the rounds of one run, and let a later run take the place of an earlier one", () => {
    const first = resultsOf([
      ["monday", ours, "drain", 10],
      ["monday", ours, "drain", 30],
      ["monday", ours, "drain", 20],
      ["monday", ours, "bulk", 5]
    ])
    expect(first.cells[ours]?.["drain"]).toEqual({ run: "monday", values: [10, 30, 20] })
    const second = addValue(first, "tuesday", ours, "drain", 7)
    expect(second.cells[ours]).toEqual({
      drain: { run: "tuesday", values: [7] },
      bulk: { run: "monday", values: [5] }
    })
  })

  it("keep a run for as long as something comes from it", () => {
    const run = { machine: "a machine", services: [], rounds: 1 }
    const named = addRun(addRun(resultsOf([["monday", ours, "drain", 1]]), "monday", run), "tuesday", run)
    expect(Object.keys(dropEmptyRuns(named).runs)).toEqual(["monday"])
    const troubled = addTrouble(named, "tuesday", "bullmq", "drain", "left out")
    expect(Object.keys(dropEmptyRuns(troubled).runs)).toEqual(["monday", "tuesday"])
  })

  it("forget the trouble of an earlier run when the workload went well, and not that of this run", () => {
    const troubled = addTrouble(none, "monday", "bullmq", "drain", "failed")
    expect(forgetTrouble(troubled, "tuesday", "bullmq", "drain").troubles["bullmq"]).toEqual({})
    expect(forgetTrouble(troubled, "monday", "bullmq", "drain")).toEqual(troubled)
  })

  it("have the middle value as their median, and of two the lower", () => {
    expect([median([9, 1, 5]), median([4, 2]), median([])]).toEqual([5, 2, Number.NaN])
  })
})

describe("comparisons", () => {
  it("are with the best of the others, within one run", () => {
    const results = resultsOf([
      ["monday", ours, "drain", 100],
      ["monday", "pg-boss", "drain", 20],
      ["monday", "bullmq", "drain", 50],
      ["monday", ours, "wake@p50", 4],
      ["monday", "pg-boss", "wake@p50", 2],
      ["monday", "bullmq", "wake@p50", 8]
    ])
    expect(compare(results, drain)).toEqual({ ours: 100, theirs: 50, best: "bullmq" })
    expect(compare(results, { ...drain, figure: "wake@p50" })).toEqual({ ours: 4, theirs: 2, best: "pg-boss" })
  })

  it("leave out what was measured in another run", () => {
    const results = resultsOf([
      ["monday", "bullmq", "drain", 50],
      ["tuesday", ours, "drain", 100]
    ])
    expect(compare(results, drain)).toBeUndefined()
    expect(compare(addValue(results, "tuesday", "pg-boss", "drain", 20), drain)?.best).toBe("pg-boss")
  })
})

describe("curves", () => {
  const results = resultsOf([
    ["monday", ours, "waiting@1000000", 90],
    ["monday", ours, "waiting@0", 100],
    ["monday", "pg-boss", "waiting@0", 10]
  ])

  it("go by size, and need two points", () => {
    const [curve, ...more] = curvesOf(results, "waiting")
    expect(more).toEqual([])
    expect(curve?.points).toEqual([
      { size: 0, value: 100 },
      { size: 1_000_000, value: 90 }
    ])
    expect(curve === undefined ? undefined : shareAt(curve, 1_000_000)).toBe(0.9)
  })

  it("are drawn and written where there are any", () => {
    expect(plotsOf(results).map(({ name }) => name)).toEqual(["waiting"])
    const page = renderMarkdown(results)
    expect(page).toContain("![Drain with jobs waiting behind](plots/waiting.svg)")
    expect(page).toContain("| Jobwire, postgres, WebSocket | 100 | 90 | 0.90 |")
    expect(page).not.toContain("## Rates")
  })
})
