/**
 * Finishing jobs of any stores at once. Only rows that are plain, held by the token of their ack and locked by nobody are moved; all
 * else is left as it is.
 */
import type { TerminalState } from "@jobwire/protocol"
import { acks, outcomes, states, terminalStates } from "../../columns/Codes.ts"
import * as Columns from "../Columns.ts"
import type { Ending } from "./AnyJob.ts"
import { seqById } from "./Lookups.ts"

/** An ack that ends a job. */
export interface EndingAck {
  readonly store: number
  readonly id: string
  /** The number of the job, if it is known. */
  readonly seq: number | undefined
  readonly token: string
  readonly ending: Ending
}

const keys: ReadonlyArray<Columns.Column<EndingAck>> = [
  { name: "store", type: "int4", of: ({ store }) => store },
  { name: "id", type: "text", of: ({ id }) => id },
  { name: "seq", type: "int8", of: ({ seq }) => seq },
  { name: "token", type: "text", of: ({ token }) => token }
]

// Attempts and entries are those that the ack adds.
const ends: ReadonlyArray<Columns.Column<EndingAck>> = [
  { name: "state", type: "int2", of: ({ ending }) => states.code(ending.job.state) },
  { name: "finished_at", type: "float8", of: ({ ending }) => ending.job.finishedAt },
  { name: "exit", type: "json", of: ({ ending }) => ending.job.exit },
  { name: "outcome", type: "int2", of: ({ ending }) => outcomes.code(ending.entry.outcome) },
  {
    name: "acked",
    type: "int2",
    of: ({ ending }) => (ending.entry.acked === undefined ? null : acks.code(ending.entry.acked))
  },
  { name: "attempts_made", type: "int4", of: ({ ending }) => ending.job.attemptsMade },
  { name: "ledger_length", type: "int4", of: ({ ending }) => ending.job.ledgerLength }
]

const columns = [...keys, ...ends]

const kept = ["store", "seq", "lane", "place", "run_at", "processed_at", "token"] as const
const count = (state: TerminalState): string => `count(*) filter (where state = ${states.code(state)})`

export const sql = `
  with held as materialized (
    select ${ends.map(({ name }) => `g.${name}`).join(", ")}, g.position, l.at
    from ${Columns.numberedRows(columns, "g")}
    cross join lateral (
      select l.ctid as at from live l
      where l.store = g.store and l.seq = coalesce(g.seq::int8, ${seqById("g.store", "g.id")}) and l.token = g.token and l.plain
      for update skip locked
    ) l
  ), gone as (
    delete from live l using held h where l.ctid = h.at
    returning h.position, ${kept.map((name) => `l.${name}`).join(", ")},
      h.state, h.finished_at, h.outcome, h.acked, h.exit, l.stalled_count,
      l.attempts_made + h.attempts_made as attempts_made, l.ledger_length + h.ledger_length as ledger_length
  ), ended as (
    insert into done
      (${kept.join(", ")}, stalled_count, state, finished_at, outcome, acked, exit, attempts_made, ledger_length)
    select ${kept.join(", ")}, stalled_count, state, finished_at, outcome, acked, exit::json, attempts_made, ledger_length
    from gone
  ), counted as (
    insert into tally_change (store, lane, active, ${terminalStates.join(", ")})
    select store, lane, -count(*), ${terminalStates.map(count).join(", ")} from gone group by store, lane
  )
  select array(select position::int4 from gone)`

/** The parameters of {@link sql}. */
export const parameters = (endings: ReadonlyArray<EndingAck>): ReadonlyArray<unknown> =>
  Columns.parameters(columns, endings)
