/** Everything that can happen to one job, as the core sees it. */
import type { AckOutcome, FlowChildReport } from "@jobwire/protocol"
import { Result } from "effect"
import * as fc from "fast-check"
import { acknowledge } from "../../../src/core/Ack.ts"
import { cancel } from "../../../src/core/Cancel.ts"
import { claim, claimAgain } from "../../../src/core/Claim.ts"
import type { Decision } from "../../../src/core/Decision.ts"
import { replace } from "../../../src/core/Enqueue.ts"
import { count } from "../../../src/core/Flow.ts"
import type { JobRow } from "../../../src/core/JobRow.ts"
import { extend, holds } from "../../../src/core/Lease.ts"
import { promote, promoteDue } from "../../../src/core/Promote.ts"
import { release } from "../../../src/core/Release.ts"
import { retry } from "../../../src/core/Retry.ts"
import { settleParent } from "../../../src/core/Settle.ts"
import { recover } from "../../../src/core/Stall.ts"
import { request } from "./rows.ts"

/** A thing that happens; `decide` answers `undefined` where the rules refuse it or do nothing. */
export interface Command {
  readonly name: string
  readonly decide: (row: JobRow, now: number) => Decision | undefined
}

const child = (key: string) => ({ childKey: key, storeKey: "store", request: request({ id: key }) })

const outcome: fc.Arbitrary<AckOutcome> = fc.oneof(
  fc.record({ _tag: fc.constant("Complete" as const), exit: fc.constantFrom(undefined, null, 1) }),
  fc.record({ _tag: fc.constant("Fail" as const), exit: fc.constantFrom(undefined, null, "no") }),
  fc.record({
    _tag: fc.constant("Retry" as const),
    delayMs: fc.constantFrom(-1, 0, 0.5, 10),
    exit: fc.constantFrom(undefined, "again")
  }),
  fc.constant({ _tag: "Cancelled" as const }),
  fc.record({
    _tag: fc.constant("FanOut" as const),
    failFast: fc.boolean(),
    children: fc.constantFrom([], [child("a")], [child("a"), child("b"), child("c")])
  })
)

const given = (isAllowed: (row: JobRow) => boolean, name: string, decide: Command["decide"]): Command => ({
  name,
  decide: (row, now) => (isAllowed(row) ? decide(row, now) : undefined)
})

const is =
  (state: JobRow["state"]) =>
  (row: JobRow): boolean =>
    row.state === state

const report = (outcome: FlowChildReport["outcome"]): FlowChildReport => ({
  flowId: "job",
  childKey: "child",
  outcome,
  exit: undefined,
  failedReason: undefined
})

const settle = (row: JobRow, now: number, outcome: FlowChildReport["outcome"]): Decision | undefined => {
  if (row.flow === undefined) return undefined
  const counted = { ...row, flow: count(row.flow, outcome) }
  return settleParent(counted, outcome === "failed" ? report(outcome) : undefined, now)?.decision ?? { row: counted }
}

/** Any command. */
export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  outcome.map((value) =>
    given(
      (row) => holds(row, "token"),
      `ack ${value._tag}`,
      (row, now) => acknowledge(row, "token", value, now)
    )
  ),
  fc.constantFrom<Command>(
    given(is("waiting"), "claim", (row, now) => ({ row: claim(row, "token", 30_000, now) })),
    given(is("active"), "claim again", (row, now) => ({ row: claimAgain(row, 30_000, now) })),
    given(is("active"), "extend", (row, now) => ({ row: extend(row, 30_000, now) })),
    given(is("active"), "release", (row, now) => release(row, now)),
    given(is("active"), "stall", (row, now) => recover(row, 2, now).decision),
    given(is("delayed"), "come due", promoteDue),
    given(is("delayed"), "replace", (row, now) => ({ row: replace(row, request({ delayMs: 5, priority: 3 }), now) })),
    given(is("waiting-children"), "child completed", (row, now) => settle(row, now, "completed")),
    given(is("waiting-children"), "child failed", (row, now) => settle(row, now, "failed")),
    given(is("waiting-children"), "child cancelled", (row, now) => settle(row, now, "cancelled")),
    { name: "retry", decide: (row, now) => Result.getOrUndefined(retry(row, now)) },
    { name: "cancel", decide: (row, now) => Result.getOrUndefined(cancel(row, now)) },
    { name: "promote", decide: (row, now) => Result.getOrUndefined(promote(row, now)) }
  )
)
