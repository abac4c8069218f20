/**
 * Which finished jobs of a name and state are loaded: all that are older than an edge, and of the newer ones only their number is
 * known; or all up to a moment. What retention lets go is among the oldest, so this is enough to tell it.
 */
import type { TerminalState } from "@jobwire/protocol"
import type { JobRow } from "../../../core/JobRow.ts"
import { states } from "../../columns/Codes.ts"
import * as Columns from "../Columns.ts"
import { doneJobWithoutValues } from "../JobColumns.ts"
import { each, jobAndLane } from "./Fences.ts"
import type { JobCell, JobCells } from "./JobCells.ts"
import type { JobLoads } from "./JobLoads.ts"
import type { Load } from "./Load.ts"
import type { Run } from "./Run.ts"

const ofLanes = (rest: string): string => `
  select d.finished_at, d.place, d.seq from lane n cross join lateral (
    select finished_at, place, seq from done
    where store = $1 and lane = n.lane and state = $3::int2 and seq <> all($5::float8[]::int8[]) ${rest}
  ) d where n.store = $1 and n.name = $2`

// The newest, of which only the number and the last one are told, and all that are older than that one.
const beyond = `
  with newest as materialized (
    ${ofLanes("order by finished_at desc, place desc limit $4::int4")}
    order by d.finished_at desc, d.place desc limit $4::int4
  ), edge as materialized (
    select finished_at, place from newest order by finished_at, place limit 1
  ), older as materialized (
    ${ofLanes("and ($4::int4 = 0 or (finished_at, place) < (select finished_at, place from edge)) offset 0")}
  ), jobs as materialized (
    select ${doneJobWithoutValues}, n.lane from older ${each("done", "seq = older.seq", "d")} ${jobAndLane("d")}
  )
  select (select count(*) from newest)::float8, edge.finished_at, edge.place::float8, jobs.*
  from (select) always left join edge on true left join jobs on false
  union all select null, null, null, jobs.* from jobs`

const until = `
  select ${doneJobWithoutValues}, n.lane from lane o
  ${each("done", "lane = o.lane and state = $3::int2 and finished_at <= $4::float8", "d")} ${jobAndLane("d")}
  where o.store = $1 and o.name = $2`

/** A place in the order of retention. */
type End = Pick<JobRow, "place"> & { readonly finishedAt: number }

/** All older jobs than the edge are loaded, or all there are; besides there are so many newer ones, the edge included. */
interface Reach {
  readonly edge: End | undefined
  readonly newer: number
  /** Jobs that units had taken away before, which are not counted. */
  readonly without: ReadonlySet<number>
}

interface Wanted {
  readonly name: string
  readonly state: TerminalState
  /** How many of the newest need not be loaded. */
  newest: number
  asks: number
}

const endOf = ({ finishedAt = 0, place }: JobRow): End => ({ finishedAt, place })

const compareEnds = (one: End, other: End): number => one.finishedAt - other.finishedAt || one.place - other.place

const compareJobs = (one: JobRow, other: JobRow): number => compareEnds(endOf(one), endOf(other))

const keyOf = (name: string, state: TerminalState): string => `${state} ${name}`

/** See the file. */
export class EndedLoads {
  readonly #run: Run
  readonly #cells: JobCells
  readonly #jobs: JobLoads
  readonly #reached = new Map<string, Reach>()
  readonly #until = new Map<string, number>()
  readonly #wanted = new Map<string, Wanted>()
  #open: Array<Load> = []

  constructor(run: Run, cells: JobCells, jobs: JobLoads) {
    this.#run = run
    this.#cells = cells
    this.#jobs = jobs
  }

  /** The finished jobs beyond the newest `count`; lacking when they are not all loaded. */
  beyond(name: string, state: TerminalState, count: number): ReadonlyArray<JobRow> {
    const isOf = (row: JobRow | undefined): row is JobRow => row?.name === name && row.state === state
    const reach = this.#reached.get(keyOf(name, state))
    const isNewer = ({ stored }: JobCell): boolean => isOf(stored) && reach !== undefined && isCounted(stored, reach)
    // Those that are counted among the newer ones are left out here, and those of them that are gone there.
    const ends: Array<JobRow> = []
    let added = 0
    for (const cell of this.#cells.ended(name, state)) {
      if (!isOf(cell.stored)) added++
      if (!isNewer(cell) && cell.current !== undefined) ends.push(cell.current)
    }
    let newer = reach?.newer ?? 0
    for (const cell of this.#cells.storedEnded) if (isNewer(cell) && !isOf(cell.current)) newer--
    // As long as they fit, what goes is older than the edge, or was added.
    if (reach === undefined || (newer > 0 && newer + added > count)) return this.#lack(name, state, count - added)
    const excess = newer + ends.length - count
    return excess <= 0 ? [] : ends.toSorted(compareJobs).slice(0, excess)
  }

  /** The finished jobs up to a moment; lacking when they are not loaded. */
  until(name: string, state: TerminalState, moment: number): ReadonlyArray<JobRow> {
    const key = keyOf(name, state)
    if (moment > (this.#until.get(key) ?? -Infinity)) {
      this.#run.lack()
      this.#open.push({
        sql: until,
        parameters: [name, states.code(state), moment],
        receive: (rows) => {
          for (const row of rows) this.#jobs.receive(row, false)
          this.#until.set(key, Math.max(moment, this.#until.get(key) ?? -Infinity))
        }
      })
      return []
    }
    return Array.from(this.#cells.ended(name, state)).flatMap(({ current }) =>
      current !== undefined && endOf(current).finishedAt <= moment ? [current] : []
    )
  }

  loads(): ReadonlyArray<Load> {
    const loads = [...this.#open, ...Array.from(this.#wanted.values(), (wanted) => this.#load(wanted))]
    this.#open = []
    this.#wanted.clear()
    return loads
  }

  #lack(name: string, state: TerminalState, newest: number): ReadonlyArray<never> {
    this.#run.lack()
    const key = keyOf(name, state)
    const wanted = this.#wanted.get(key) ?? { name, state, newest: this.#reached.get(key)?.newer ?? Infinity, asks: 0 }
    wanted.newest = Math.min(wanted.newest, newest)
    wanted.asks++
    this.#wanted.set(key, wanted)
    return []
  }

  // Each unit that asks will finish one more.
  #load({ asks, name, newest, state }: Wanted): Load {
    const without = Array.from(this.#cells.storedEnded).flatMap(({ current, stored }) =>
      stored?.name === name && stored.state === state && current?.state !== state ? [stored.seq] : []
    )
    const rest = Math.max(0, newest - (asks - 1))
    return {
      sql: beyond,
      parameters: [name, states.code(state), rest, Columns.array(without, "int8")],
      receive: (rows) => {
        const key = keyOf(name, state)
        for (const row of rows) if (row[0] === null) this.#jobs.receive(row.slice(3), false)
        const [newer, finishedAt, place] = rows.find((row) => row[0] !== null) ?? []
        const edge = typeof finishedAt === "number" ? { finishedAt, place: Number(place) } : undefined
        this.#reached.set(key, { edge, newer: Number(newer), without: new Set(without) })
      }
    }
  }
}

/** Whether a job of the database is counted among those that are newer than what is loaded. */
const isCounted = (job: JobRow, { edge, without }: Reach): boolean =>
  edge !== undefined && compareEnds(endOf(job), edge) >= 0 && !without.has(job.seq)
