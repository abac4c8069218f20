/**
 * Joins that lead from one row to the next by an index. The planner knows little of tables whose rows come and go, and joins them as
 * if they were empty; a subquery with an offset or a lock is a fence, behind which it has nothing but the index to choose.
 */

/** Of each row so far, the rows of a table for which the condition holds. */
export const each = (table: string, condition: string, alias: string, columns = "*"): string =>
  `cross join lateral (select ${columns} from ${table} where store = $1 and ${condition} offset 0) ${alias}`

/** Of each row so far, the row of `live l`, locked. */
export const eachLocked = (condition: string): string =>
  `cross join lateral (select * from live where store = $1 and ${condition} for update) l`

/** The job and the lane of each row so far, which is `live l` or `done d`. */
export const jobAndLane = (row: "l" | "d"): string =>
  `${each("job", `seq = ${row}.seq`, "j")} ${each("lane", `lane = ${row}.lane`, "n")}`

/** Where the row of the table `t` is that a row so far names; for a change of the one at `t.ctid = f.at`. */
export const found = (table: string, condition: string): string => each(table, condition, "f", "ctid as at")
