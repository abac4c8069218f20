/** The statements that write what units have done to jobs: to `job`, `live`, `done`, `attempt` and `tally_change`. */
import { isTerminal } from "@jobwire/protocol"
import type { JobRow } from "../../../core/JobRow.ts"
import { compareText } from "../../../core/Order.ts"
import { acks, outcomes, states } from "../../columns/Codes.ts"
import * as Columns from "../Columns.ts"
import { type DoneItem, doneFields, jobFields, type LiveItem, liveFields, producerFields } from "../JobColumns.ts"
import type { LaneNumbers } from "../LaneNumbers.ts"
import * as RowStates from "../RowStates.ts"
import { each, found } from "./Fences.ts"
import type { CountChange, Entry, JobChanges, ToLive } from "./JobChanges.ts"
import { type Write, writing } from "./Load.ts"

const seqFields: ReadonlyArray<Columns.Column<number>> = [{ name: "seq", type: "int8", of: (seq) => seq }]

const rewriteFields: ReadonlyArray<Columns.Column<JobChanges["rewritten"][number]>> = [
  { name: "seq", type: "int8", of: ({ seq }) => seq },
  ...producerFields
]

const attemptFields: ReadonlyArray<Columns.Column<Entry>> = [
  { name: "seq", type: "int8", of: ({ seq }) => seq },
  { name: "attempt", type: "int4", of: ({ entry }) => entry.attempt },
  { name: "started_at", type: "float8", of: ({ entry }) => entry.startedAt },
  { name: "finished_at", type: "float8", of: ({ entry }) => entry.finishedAt },
  { name: "outcome", type: "int2", of: ({ entry }) => outcomes.code(entry.outcome) },
  { name: "acked", type: "int2", of: ({ entry }) => (entry.acked === undefined ? null : acks.code(entry.acked)) },
  { name: "token", type: "text", of: ({ entry }) => entry.token },
  { name: "exit", type: "json", of: ({ entry }) => entry.exit }
]

/** Signed counts of a lane. */
interface TallyItem {
  readonly lane: number
  readonly counts: CountChange["counts"]
}

const tallyFields: ReadonlyArray<Columns.Column<TallyItem>> = [
  { name: "lane", type: "int4", of: ({ lane }) => lane },
  ...states.words.map((state) => ({
    name: state.replace("-", "_"),
    type: "int4" as const,
    of: ({ counts }: TallyItem) => counts[state]
  }))
]

const insertInto =
  (table: string, fields: ReadonlyArray<Columns.Column<never>>) =>
  (first: number): string =>
    `
  insert into ${table} (store, ${Columns.names(fields)})
  select $1, ${Columns.values(fields, "r")} from ${Columns.rows(fields, "r", first)}`

const update =
  (table: string, fields: ReadonlyArray<Columns.Column<never>>) =>
  (first: number): string =>
    `
  update ${table} t set ${Columns.assignments(fields.slice(1), "r")} from ${Columns.rows(fields, "r", first)}
  ${found(table, "seq = r.seq::int8")} where t.ctid = f.at`

const deleteFrom =
  (table: string) =>
  (first: number): string =>
    `delete from ${table} t using ${Columns.rows(seqFields, "r", first)} ${found(table, "seq = r.seq::int8")}
     where t.ctid = f.at`

// A token holds one job of a queue at any moment, also within a statement.
const free = (first: number): string =>
  `update live t set token = null from ${Columns.rows(seqFields, "r", first)} ${found("live", "seq = r.seq::int8")}
   where t.ctid = f.at`

// The entry that finished a job goes to those before it.
const keepEnds = (first: number): string => `
  insert into attempt (store, ${Columns.names(attemptFields)})
  select $1, d.seq, d.ledger_length, d.processed_at, d.finished_at, d.outcome, d.acked, d.token, d.exit
  from ${Columns.rows(seqFields, "r", first)} ${each("done", "seq = r.seq::int8", "d")}`

/** What goes, and may come again under its key. */
export const clears = ({ deleted, freed, fromDone }: JobChanges): ReadonlyArray<Write> => {
  const gone = new Set(deleted.map(seqOf))
  const finished = deleted.filter(({ state }) => isTerminal(state))
  const others = deleted.filter(({ state }) => !isTerminal(state))
  // The last entry of a finished job stands in `done`.
  const withEntries = deleted.filter(({ ledgerLength, state }) => ledgerLength > (isTerminal(state) ? 1 : 0))
  return [
    ...writing(
      free,
      seqFields,
      freed.filter((seq) => !gone.has(seq))
    ),
    ...writing(keepEnds, seqFields, fromDone),
    ...writing(deleteFrom("job"), seqFields, deleted.map(seqOf)),
    ...writing(deleteFrom("live"), seqFields, others.map(seqOf)),
    ...writing(deleteFrom("done"), seqFields, [...finished.map(seqOf), ...fromDone]),
    ...writing(deleteFrom("attempt"), seqFields, withEntries.map(seqOf))
  ]
}

const seqOf = ({ seq }: JobRow): number => seq

/** What comes or changes. The lanes have their numbers. */
export const writes = (changes: JobChanges, lanes: LaneNumbers): ReadonlyArray<Write> => {
  const { counts, entries, fromLive, rewritten } = changes
  const liveItem = ({ job, placeBefore }: ToLive): LiveItem => ({
    job,
    lane: lanes.get(job),
    state: RowStates.codeOf(job, placeBefore)
  })
  // Everybody inserts in this order, so that nobody waits for one who waits for him.
  const inserted = changes.inserted.toSorted((one, other) => compareText(one.id, other.id))
  const done = changes.toDone.map(({ end, job }): DoneItem => ({ job, lane: lanes.get(job), end }))
  const tally = counts
    .filter(({ counts }) => states.words.some((state) => counts[state] !== 0))
    .map(({ counts, lane }) => ({ counts, lane: lanes.get(lane) }))
  return [
    ...writing(insertInto("job", jobFields), jobFields, inserted),
    ...writing(insertInto("live", liveFields), liveFields, changes.toLive.map(liveItem)),
    ...writing(update("live", liveFields), liveFields, changes.withinLive.map(liveItem)),
    ...writing(deleteFrom("live"), seqFields, fromLive),
    ...writing(insertInto("done", doneFields), doneFields, done),
    ...writing(update("job", rewriteFields), rewriteFields, rewritten),
    ...writing(insertInto("attempt", attemptFields), attemptFields, entries),
    ...writing(insertInto("tally_change", tallyFields), tallyFields, tally)
  ]
}
