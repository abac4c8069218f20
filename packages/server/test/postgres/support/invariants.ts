/** What must hold in the database whatever happened, looked at by SQL that the driver does not use. */
import { Effect, type Redacted } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { query } from "./database.ts"

const states = ["waiting", "delayed", "active", "waiting_children", "completed", "failed", "cancelled"]

// Of the store $1; each gives the rows that break the rule.
const rules: ReadonlyArray<readonly [rule: string, sql: string]> = [
  [
    "every job is in live or in done, and not in both",
    `select seq from job j where store = $1 and
       (select count(*) from live l where l.store = j.store and l.seq = j.seq) +
       (select count(*) from done d where d.store = j.store and d.seq = j.seq) <> 1`
  ],
  [
    "what is in live or in done has its job",
    `select seq from (select seq from live where store = $1 union all select seq from done where store = $1) s
     where not exists (select from job j where j.store = $1 and j.seq = s.seq)`
  ],
  [
    "what is in live or in done has its lane",
    `select seq from (select seq, lane from live where store = $1 union all select seq, lane from done where store = $1) s
     where not exists (select from lane n where n.store = $1 and n.lane = s.lane)`
  ],
  ["only live states are in live", "select seq from live where store = $1 and state not in (0, 1, 2, 3, 7)"],
  ["only finished states are in done", "select seq from done where store = $1 and state not in (4, 5, 6)"],
  [
    "a token and a lease are there exactly while active",
    "select seq from live where store = $1 and ((state = 2) <> (token is not null) or (state = 2) <> (lock_until is not null))"
  ],
  ["only active jobs are to be cancelled", "select seq from live where store = $1 and cancel_requested and state <> 2"],
  [
    "the ledger has as many entries as the job says",
    `select seq from (
       select seq, ledger_length as entries from live where store = $1
       union all select seq, ledger_length - 1 from done where store = $1
     ) s where entries <> (select count(*) from attempt a where a.store = $1 and a.seq = s.seq)`
  ],
  [
    "the entries of a ledger are numbered from one, without gaps",
    "select seq from attempt where store = $1 group by seq having min(attempt) <> 1 or max(attempt) <> count(*)"
  ],
  [
    "no entry is without its job",
    "select seq from attempt a where store = $1 and not exists (select from job j where j.store = $1 and j.seq = a.seq)"
  ],
  [
    "plain jobs are those whose end needs nothing else",
    `select l.seq from live l join job j using (store, seq) where l.store = $1 and
       l.plain <> (j.parent is null and j.keep is null and j.dedupe_key is null and l.flow is null)`
  ],
  [
    "the counts are what a scan counts",
    `select lane, state from lane n
     cross join unnest(array[${states.map((state) => `'${state}'`).join(", ")}], array[0, 1, 2, 3, 4, 5, 6]) s (word, state)
     where store = $1 and
       (select count(*) from live l where l.store = $1 and l.lane = n.lane
          and case l.state when 7 then 0 else l.state end = s.state)
       + (select count(*) from done d where d.store = $1 and d.lane = n.lane and d.state = s.state)
       <> coalesce((select sum(case s.word ${states.map((state) => `when '${state}' then ${state}`).join(" ")} end) from (
            select lane, ${states.join(", ")} from tally where store = $1
            union all select lane, ${states.join(", ")} from tally_change where store = $1
          ) t where t.lane = n.lane), 0)`
  ],
  [
    "every child has its request, and every request its child",
    `select flow_id, child_key from (select flow_id, child_key from child where store = $1) c
     full join (select flow_id, child_key from child_request where store = $1) r using (flow_id, child_key)
     where not exists (select from child where store = $1 and child.flow_id = flow_id and child.child_key = child_key)
        or not exists (select from child_request x where x.store = $1 and x.flow_id = flow_id and x.child_key = child_key)`
  ],
  [
    "every child has its parent",
    "select flow_id from child c where store = $1 and not exists (select from job j where j.store = $1 and j.id = c.flow_id)"
  ],
  [
    "a flow counts its children as they are",
    `select seq from (select seq, flow from live where store = $1 union all select seq, flow from done where store = $1) f
     join job j using (seq)
     cross join unnest(array['pending', 'completed', 'failed', 'cancelled'], array[0, 1, 2, 3]) s (word, status)
     where j.store = $1 and f.flow is not null and (f.flow::json ->> s.word)::int <>
       (select count(*) from child c where c.store = $1 and c.flow_id = j.id and c.status = s.status)`
  ],
  [
    "a job without children waits for none",
    "select seq from live where store = $1 and state = 3 and (flow is null or (flow::json ->> 'pending')::int = 0)"
  ],
  [
    "a key without a window is held by a job that is not finished",
    `select key from dedupe d where store = $1 and expires_at is null and not exists (
       select from job j join live l using (store, seq) where j.store = $1 and j.id = d.job_id)`
  ],
  [
    "numbers are below the next one",
    "select seq from live where store = $1 and greatest(seq, place) > (select last_value from number)"
  ]
]

const all = rules.map(([rule, sql]) => `select '${rule}' where exists (${sql})`).join("\n union all ")

/** The rules that are broken in a store, by name; none when all is well. */
export const brokenRules = (store: number, url?: Redacted.Redacted): Effect.Effect<ReadonlyArray<string>, SqlError> =>
  Effect.map(query(all, [store], url), (rows) => rows.map(([rule]) => String(rule)))
