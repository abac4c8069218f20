/** Parents and children: the manifest of a fan-out, the dependency rows, the reports and the outbox. */
import { Schema } from "effect"
import { EnqueueRequest } from "./Enqueue.ts"
import { maybe } from "./Field.ts"
import { TerminalState } from "./Job.ts"
import { JsonValue } from "./Json.ts"
import { JobId, JobName } from "./Scalars.ts"

/** One child of a fan-out: its key within the flow, the store it goes to, and the complete request with its id. */
export const FlowChildSpec = Schema.Struct({
  childKey: Schema.String,
  storeKey: Schema.String,
  request: EnqueueRequest
}).annotate({ identifier: "FlowChildSpec" })
export type FlowChildSpec = typeof FlowChildSpec.Type

/** How a child ended, for the store of its parent. */
export const FlowChildReport = Schema.Struct({
  flowId: JobId,
  childKey: Schema.String,
  outcome: TerminalState,
  exit: maybe(JsonValue),
  failedReason: maybe(Schema.String)
}).annotate({ identifier: "FlowChildReport" })
export type FlowChildReport = typeof FlowChildReport.Type

/** What became of one report: `applied` to a pending row, and whether it was the one that settled the parent. */
export const FlowReportResult = Schema.Struct({
  applied: Schema.Boolean,
  parentSettled: Schema.Boolean
}).annotate({ identifier: "FlowReportResult" })
export type FlowReportResult = typeof FlowReportResult.Type

/** Where a child stands, as its parent's store knows it. */
export const FlowChildStatus = Schema.Literals(["pending", "completed", "failed", "cancelled"]).annotate({
  identifier: "FlowChildStatus"
})
export type FlowChildStatus = typeof FlowChildStatus.Type

/** A dependency row. `cascaded`: the child's own store knows of this status, so no cancel is owed to it. */
export const FlowChildRecord = Schema.Struct({
  flowId: JobId,
  childKey: Schema.String,
  name: JobName,
  storeKey: Schema.String,
  childJobId: JobId,
  status: FlowChildStatus,
  exit: maybe(JsonValue),
  failedReason: maybe(Schema.String),
  cascaded: Schema.Boolean
}).annotate({ identifier: "FlowChildRecord" })
export type FlowChildRecord = typeof FlowChildRecord.Type

/** A page of dependency rows in the order of their child keys. */
export const FlowChildPage = Schema.Struct({
  items: Schema.Array(FlowChildRecord),
  cursor: maybe(Schema.String)
}).annotate({ identifier: "FlowChildPage" })
export type FlowChildPage = typeof FlowChildPage.Type

/** A child whose store is owed a cancel. */
export const FlowCascadeChild = Schema.Struct({
  childKey: Schema.String,
  storeKey: Schema.String,
  childJobId: JobId
}).annotate({ identifier: "FlowCascadeChild" })
export type FlowCascadeChild = typeof FlowCascadeChild.Type

/**
 * What a sweeper has to look after: children that have been pending for long while their parent waits (`reconcile`), and
 * children that a settle cancelled but whose stores do not know it yet (`cascade`).
 */
export const FlowSweepWork = Schema.Struct({
  reconcile: Schema.Array(Schema.Struct({ flowId: JobId, children: Schema.Array(FlowChildSpec) })),
  cascade: Schema.Array(Schema.Struct({ flowId: JobId, children: Schema.Array(FlowCascadeChild) }))
}).annotate({ identifier: "FlowSweepWork" })
export type FlowSweepWork = typeof FlowSweepWork.Type

/** A report that waits to be carried to the parent's store. Its id is opaque and comes back in `deleteOutbox`. */
export const OutboxEntry = Schema.Struct({
  id: Schema.String,
  flowName: Schema.String,
  parentStoreKey: Schema.String,
  report: FlowChildReport
}).annotate({ identifier: "OutboxEntry" })
export type OutboxEntry = typeof OutboxEntry.Type
