/** What holds for every transition, whatever the job and whatever happens to it. */
import { type FlowState, isTerminal } from "@jobwire/protocol"
import * as fc from "fast-check"
import { assert, describe } from "vitest"
import type { Decision } from "../../src/core/Decision.ts"
import type { JobRow } from "../../src/core/JobRow.ts"
import { anyCommand } from "./support/commands.ts"
import { property } from "./support/property.ts"
import { anyRow, enqueuedAt } from "./support/rows.ts"

interface Transition {
  readonly name: string
  readonly before: JobRow
  readonly decision: Decision
}

const now = enqueuedAt + 100_000

// Only what the rules carry out.
const transition: fc.Arbitrary<Transition> = fc
  .tuple(anyRow, anyCommand)
  .map(([before, command]) => ({ name: command.name, before, decision: command.decide(before, now) }))
  .filter((found): found is Transition => found.decision !== undefined)

const childrenOf = (flow: FlowState | undefined): number =>
  flow === undefined ? 0 : flow.pending + flow.completed + flow.failed + flow.cancelled

const becameTerminal = ({ before, decision }: Transition): boolean =>
  !isTerminal(before.state) && isTerminal(decision.row.state)

describe("every transition", () => {
  property("leaves a lease on active jobs and on no others", transition, ({ decision: { row } }) => {
    assert.strictEqual(row.token !== undefined, row.state === "active")
    assert.strictEqual(row.lockUntil !== undefined, row.state === "active")
  })

  property("leaves an end on finished jobs and on no others", transition, ({ decision: { row } }) => {
    assert.strictEqual(row.finishedAt !== undefined, isTerminal(row.state))
    if (!isTerminal(row.state)) assert.isUndefined(row.exit)
    if (row.state !== "failed") assert.isUndefined(row.failedReason)
    if (row.state !== "active") assert.isFalse(row.cancelRequested)
  })

  property("numbers the ledger without gaps", transition, ({ before, decision: { attempt, row } }) => {
    assert.strictEqual(row.ledgerLength, before.ledgerLength + (attempt === undefined ? 0 : 1))
    if (attempt !== undefined) assert.strictEqual(attempt.attempt, before.ledgerLength + 1)
  })

  property("leaves terminal states by retry only", transition, ({ before, decision, name }) => {
    if (isTerminal(before.state)) {
      assert.strictEqual(name, "retry")
      assert.strictEqual(before.state, "failed")
      assert.strictEqual(decision.row.state, "waiting")
    }
  })

  property("reports to a parent once, when the job ends", transition, (found) => {
    const { before, decision } = found
    assert.strictEqual(decision.report !== undefined, becameTerminal(found) && before.parent !== undefined)
    if (decision.report !== undefined) {
      assert.strictEqual(decision.report.report.outcome, decision.row.state)
      assert.strictEqual(decision.report.report.exit, decision.row.exit)
      assert.strictEqual(decision.report.report.failedReason, decision.row.failedReason)
    }
  })

  property("writes a ledger entry and frees the dedupe key when the job ends", transition, (found) => {
    const { before, decision } = found
    if (becameTerminal(found)) {
      assert.isDefined(decision.attempt)
      assert.strictEqual(decision.freesDedupe, before.dedupeKey !== undefined)
    } else {
      assert.isNotTrue(decision.freesDedupe)
      assert.isUndefined(decision.prune)
    }
  })

  property("keeps the counters at the sum of the children", transition, ({ before, decision }) => {
    const manifest = decision.children?.length ?? childrenOf(before.flow)
    assert.strictEqual(childrenOf(decision.row.flow), manifest)
    for (const value of Object.values(decision.row.flow ?? {}))
      if (typeof value === "number") assert.isAtLeast(value, 0)
  })

  property("lets children be pending only while their parent waits for them", transition, ({ decision }) => {
    assert.strictEqual((decision.row.flow?.pending ?? 0) > 0, decision.row.state === "waiting-children")
  })

  property("cancels pending children exactly when their parent ends", transition, (found) => {
    const { before, decision } = found
    const pending = (before.flow?.pending ?? 0) + (decision.children?.length ?? 0)
    const settledHere = found.name.startsWith("child") ? 1 : 0
    assert.strictEqual(decision.cancelsChildren === true, becameTerminal(found) && pending - settledHere > 0)
  })

  property(
    "wakes takers exactly when the job can be claimed, now or later",
    transition,
    ({ before, decision, name }) => {
      const runs = decision.row.state === "waiting" || decision.row.state === "delayed"
      // Whoever promotes due jobs or replaces one wakes by itself.
      if (name === "come due" || name === "replace") return
      assert.strictEqual(decision.wakes === true, runs && before.state !== decision.row.state)
    }
  )

  property("gives a new place to what goes to the back of the line, and to nothing else", transition, (found) => {
    const { before, decision, name } = found
    const runs = decision.row.state === "waiting" || decision.row.state === "delayed"
    const goesBack = name === "ack Retry" || name === "ack FanOut" || name === "retry" || name.startsWith("child")
    assert.strictEqual(decision.toBack === true, goesBack && runs)
    assert.strictEqual(decision.row.place, before.place)
  })

  property("keeps what a job is", transition, ({ before, decision: { row } }) => {
    assert.deepStrictEqual(
      [row.id, row.seq, row.name, row.queue, row.enqueuedAt, row.dedupeKey, row.parent],
      [before.id, before.seq, before.name, before.queue, before.enqueuedAt, before.dedupeKey, before.parent]
    )
  })
})
