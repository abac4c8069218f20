/** Which jobs may be deleted by hand. */
import type { JobRow } from "./JobRow.ts"

/** Neither a job that somebody runs nor a parent that waits for its children. */
export const isRemovable = (row: JobRow): boolean => row.state !== "active" && row.state !== "waiting-children"
