/** Giving a claimed job back without a verdict. */
import type { Decision } from "./Decision.ts"
import type { JobRow } from "./JobRow.ts"
import { terminate } from "./Terminal.ts"

/** Back to its place in line, nothing spent, nothing in the ledger; a pending cancel is honoured instead. */
export const release = (row: JobRow, now: number): Decision =>
  row.cancelRequested
    ? terminate(row, "cancelled", now)
    : { row: { ...row, state: "waiting", token: undefined, lockUntil: undefined }, wakes: true }
