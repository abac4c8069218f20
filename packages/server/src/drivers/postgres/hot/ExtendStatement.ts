/**
 * Keeping leases of any stores at once. Only rows that are held by their token, that nobody wants cancelled and that nobody has locked
 * are changed. No index holds the end of a lease, so a heartbeat writes no index.
 */
import * as Columns from "../Columns.ts"
import { seqById } from "./Lookups.ts"

/** A lease that is to last until then. */
export interface Extension {
  readonly store: number
  readonly id: string
  /** The number of the job, if it is known. */
  readonly seq: number | undefined
  readonly token: string
  readonly until: number
}

const columns: ReadonlyArray<Columns.Column<Extension>> = [
  { name: "store", type: "int4", of: ({ store }) => store },
  { name: "id", type: "text", of: ({ id }) => id },
  { name: "seq", type: "int8", of: ({ seq }) => seq },
  { name: "token", type: "text", of: ({ token }) => token },
  { name: "until", type: "float8", of: ({ until }) => until }
]

export const sql = `
  with held as materialized (
    select g.position, g.until, l.at
    from ${Columns.numberedRows(columns, "g")}
    cross join lateral (
      select l.ctid as at from live l
      where l.store = g.store and l.seq = coalesce(g.seq::int8, ${seqById("g.store", "g.id")}) and l.token = g.token and not l.cancel_requested
      for update skip locked
    ) l
  ), extended as (
    update live l set lock_until = h.until from held h where l.ctid = h.at returning h.position
  )
  select array(select position::int4 from extended)`

/** The parameters of {@link sql}. */
export const parameters = (extensions: ReadonlyArray<Extension>): ReadonlyArray<unknown> =>
  Columns.parameters(columns, extensions)
