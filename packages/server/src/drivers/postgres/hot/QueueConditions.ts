/** What stands in the way of claims of group `w`, as SQL. An order leaves the planner one index: see Lookups.ts. */
import { active, delayed } from "../RowStates.ts"
import * as Groups from "./Groups.ts"
import { isHeld } from "./Lookups.ts"

/** The lanes `n` of the group's queue, as a table. */
export const lanesOfQueue = `
  (select n.lane, n.name from lane n where n.store = w.store and n.queue = w.queue order by n.name, n.priority offset 0) n`

/** The lanes `n` of the group's names, as a table. */
export const lanesOfNames = `
  unnest(${Groups.names}) m(name) cross join lateral (
    select n.lane from lane n where n.store = w.store and n.queue = w.queue and n.name = m.name order by n.priority offset 0
  ) n`

/** Whether the queue is paused. */
export const paused = `
  (select true from pause p where p.store = w.store and p.queue >= w.queue and p.queue <= w.queue order by p.queue limit 1) is true`

/** Whether the queue has delayed jobs whose time has come, whatever their names. */
export const due = `(
  select true from ${lanesOfQueue} cross join lateral (
    select from live l where l.store = w.store and l.lane = n.lane and l.state = ${delayed} and l.run_at <= w.now
    order by l.run_at limit 1
  ) l limit 1
) is true`

/** The numbers `t.k` of the claims whose tokens hold a job of the store already, as a table. */
export const held = `
  (select k from generate_series(w.first, w.last) k where ${isHeld("w.store", Groups.claim.token("k"), active)}) t`
