/**
 * What stands in the way of claims of group `w`, as SQL. Subqueries with an offset are fences: they keep the planner, which knows
 * little of such tables, to the index that leads to the rows.
 */
import { active, delayed } from "../RowStates.ts"
import * as Groups from "./Groups.ts"

/** The lanes `n` of the group's queue, all or those of some names. */
export const lanesOf = (names?: string): string => `
  (select n.lane, n.name from lane n where n.store = w.store and n.queue = w.queue ${names === undefined ? "" : `and n.name = any (${names})`}
   order by n.queue, n.name offset 0)
  n`

/** Whether the queue is paused. */
export const paused = `exists (select from pause p where p.store = w.store and p.queue = w.queue)`

/** Whether the queue has delayed jobs whose time has come, whatever their names. */
export const due = `coalesce((
  select true from ${lanesOf()}
  cross join lateral (
    select from live l where l.store = w.store and l.lane = n.lane and l.state = ${delayed} and l.run_at <= w.now limit 1
  ) l limit 1), false)`

/** The numbers `t.k` of the claims whose tokens hold a job of the store already, as a table. */
export const held = `
  generate_series(w.first, w.last) t(k)
  cross join lateral (
    select from live l where l.store = w.store and l.token = ${Groups.claim.token("t.k")} and l.state = ${active} limit 1
  ) l`
