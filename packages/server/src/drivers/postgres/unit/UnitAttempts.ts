/** Ledgers as units see them. */
import type { AttemptRow, JobRow } from "../../../core/JobRow.ts"
import type { AttemptTable } from "../../embedded/Tables.ts"
import * as Columns from "../Columns.ts"
import { attemptColumns, decodeAttempt } from "../look/Attempts.ts"
import { each } from "./Fences.ts"
import type { JobCell, JobCells } from "./JobCells.ts"
import { KeyedRows } from "./KeyedRows.ts"
import type { Load, Part } from "./Load.ts"
import type { Run } from "./Run.ts"

interface TokenOfJob {
  readonly seq: number
  readonly token: string
}

const keyFields: ReadonlyArray<Columns.Column<TokenOfJob>> = [
  { name: "seq", type: "int8", of: ({ seq }) => seq },
  { name: "token", type: "text", of: ({ token }) => token }
]

const find = `
  select ${attemptColumns}, a.seq::float8 from ${Columns.rows(keyFields, "w", 2)}
  ${each("attempt", "seq = w.seq::int8 and token = w.token and acked is not null", "a")} order by a.attempt`

/** See `AttemptTable`. Entries of `done` come with their jobs; `lackValues` says of a job that its exit is wanted too. */
export class UnitAttempts implements AttemptTable, Part {
  readonly #cells: JobCells
  readonly #lackValues: (id: string) => undefined
  readonly #byToken: KeyedRows<TokenOfJob, AttemptRow>

  constructor(run: Run, cells: JobCells, lackValues: (id: string) => undefined) {
    this.#cells = cells
    this.#lackValues = lackValues
    this.#byToken = new KeyedRows(run, ({ seq, token }) => `${seq} ${token}`)
  }

  append(job: JobRow, attempt: AttemptRow): void {
    this.#cells.append(this.#cell(job), attempt)
  }

  list(): never {
    throw new Error("the ledgers of a PostgreSQL store are listed by a statement of its own")
  }

  byToken(job: JobRow, token: string): AttemptRow | undefined {
    const { entries, hasValues, stored, storedEnd } = this.#cell(job)
    // The database knows nothing of a job that was given an id again here.
    const isStored = stored?.seq === job.seq
    const known = isStored && storedEnd !== undefined ? [storedEnd, ...entries] : entries
    const found = known.findLast((entry) => entry.token === token && entry.acked !== undefined)
    if (found !== undefined && found === storedEnd && !hasValues) return this.#lackValues(job.id)
    if (found !== undefined || !isStored) return found
    const earlier = stored.ledgerLength - (storedEnd === undefined ? 0 : 1)
    return earlier === 0 ? undefined : this.#byToken.get({ seq: stored.seq, token })
  }

  loads(): ReadonlyArray<Load> {
    const keys = this.#byToken.takeLacking()
    if (keys.length === 0) return []
    // Of several entries of one token the last one stays.
    const receive: Load["receive"] = (rows) =>
      this.#byToken.receive(
        keys,
        rows.map((row) => {
          const entry = decodeAttempt(row)
          return [{ seq: Number(row.at(-1)), token: entry.token ?? "" }, entry]
        })
      )
    return [{ sql: find, parameters: Columns.parameters(keyFields, keys), receive }]
  }

  writes(): ReadonlyArray<never> {
    return []
  }

  #cell(job: JobRow): JobCell {
    const cell = this.#cells.find(job.id)
    if (cell === undefined) throw new Error(`job ${JSON.stringify(job.id)} is not there`)
    return cell
  }
}
