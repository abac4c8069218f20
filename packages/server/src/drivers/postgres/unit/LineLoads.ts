/**
 * How far the lines of queues are loaded: waiting jobs by lane, from its head; delayed jobs by queue, from the earliest. Whatever the
 * database has up to there is among the loaded jobs, so a question is answered from those as long as its answer lies that far.
 */
import type { JobRow } from "../../../core/JobRow.ts"
import * as Columns from "../Columns.ts"
import type { Row } from "../Connections.ts"
import { liveJob, liveJobWithoutValues } from "../JobColumns.ts"
import { delayed, fresh, returned } from "../RowStates.ts"
import type { JobCells } from "./JobCells.ts"
import { each, eachLocked, jobAndLane } from "./Fences.ts"
import type { JobLoads } from "./JobLoads.ts"
import type { Load } from "./Load.ts"
import type { Run } from "./Run.ts"

interface Line {
  readonly queue: string
  readonly name: string
  readonly most: number
}

const lineFields: ReadonlyArray<Columns.Column<Line>> = [
  { name: "queue", type: "text", of: ({ queue }) => queue },
  { name: "name", type: "text", of: ({ name }) => name },
  { name: "most", type: "int4", of: ({ most }) => most }
]

interface LaneReach {
  readonly lane: number
  readonly priority: number
  /** The place of the last job that is loaded; {@link end} when the lane has no more. */
  readonly to: number
}

// Behind all places.
const end = Number.MAX_SAFE_INTEGER

// More than once asked for more, a line gives twice as many, up to this.
const largestHead = 256

const reachFields: ReadonlyArray<Columns.Column<LaneReach>> = [
  { name: "lane", type: "int4", of: ({ lane }) => lane },
  { name: "after", type: "float8", of: ({ to }) => to }
]

const headOf = (state: number): string => `
  (select seq, place from live
   where store = $1 and lane = n.lane and state = ${state} and place > coalesce(h.after::int8, -1) order by place limit w.most)`

const lockCandidates = (columns: string): string => `
  select ${columns}, n.lane from (select * from c order by seq) c ${eachLocked("seq = c.seq")} ${jobAndLane("l")}`

// First the candidates, which say how far the lines are loaded, then what is left of them once it is locked.
const waiting = `
  with c as materialized (
    select w.queue, w.name, n.lane, n.priority, f.place::float8, f.seq from ${Columns.rows(lineFields, "w", 2)}
    ${each("lane", "queue = w.queue and name = w.name", "n")}
    left join ${Columns.rows(reachFields, "h", 5)} on h.lane = n.lane
    cross join lateral (
      select seq, place from (${headOf(fresh)} union all ${headOf(returned)}) b order by place limit w.most
    ) f
  ), locked as materialized (${lockCandidates(liveJob)})
  select c.queue, c.name, c.lane, c.priority, c.place, locked.* from c left join locked on false
  union all select null, null, null, null, null, locked.* from locked`

const due = `
  with c as materialized (
    select f.run_at, f.place::float8, f.seq from lane n
    cross join lateral (
      select run_at, place, seq from live
      where store = $1 and lane = n.lane and state = ${delayed} and run_at <= $3::float8
        and run_at >= $4::float8 and (run_at > $4::float8 or place > $5::float8)
      order by run_at, place limit $6::int4
    ) f
    where n.store = $1 and n.queue = $2 order by f.run_at, f.place limit $6::int4
  ), locked as materialized (${lockCandidates(liveJobWithoutValues)})
  select c.run_at, c.place, locked.* from c left join locked on false
  union all select null, null, locked.* from locked`

const earliest = `
  select n.name, e.run_at, e.seq::float8 from lane n
  cross join lateral (
    select run_at, seq from live
    where store = $1 and lane = n.lane and state = ${delayed} and seq <> all($4::float8[]::int8[])
    order by run_at limit 1
  ) e
  where n.store = $1 and n.queue = $2 and n.name = any($3::text[])`

/** A job that is not loaded, and when it runs. */
interface Unloaded {
  readonly runAt: number
  readonly seq: number
}

interface DueReach {
  readonly runAt: number
  readonly place: number
}

const lineOf = (queue: string, name: string): string => JSON.stringify([queue, name])

/** See the file. */
export class LineLoads {
  readonly #run: Run
  readonly #cells: JobCells
  readonly #jobs: JobLoads
  readonly #reached = new Map<string, Array<LaneReach>>()
  readonly #due = new Map<string, DueReach>()
  /** The earliest job by line that is not loaded. */
  readonly #earliest = new Map<string, Unloaded | undefined>()
  readonly #wanted = new Map<string, Line>()
  /** How many a line was last asked for. */
  readonly #given = new Map<string, number>()
  #open = new Map<string, Load>()

  constructor(run: Run, cells: JobCells, jobs: JobLoads) {
    this.#run = run
    this.#cells = cells
    this.#jobs = jobs
  }

  /** Whether no job comes before this one that is not loaded, or none at all; otherwise more are lacking. */
  hasHead(queue: string, names: Iterable<string>, best: JobRow | undefined): boolean {
    let isLoaded = true
    for (const name of names) {
      const line = lineOf(queue, name)
      const lanes = this.#reached.get(line)
      if (lanes?.every((lane) => reaches(lane, best)) === true) continue
      isLoaded = false
      this.#lackHead(line, queue, name)
    }
    return isLoaded
  }

  /** Whether all jobs of the queue are loaded that are due; otherwise so many are lacking. */
  hasDue(queue: string, now: number, count: number): boolean {
    const reached = this.#due.get(queue) ?? { runAt: -Infinity, place: Infinity }
    if (reached.runAt > now || (reached.runAt === now && reached.place === Infinity)) return true
    this.#lack(`due ${queue}`, {
      sql: due,
      parameters: [queue, now, reached.runAt, reached.place, count],
      receive: (rows) => {
        const candidates = this.#receive(rows, 2, false).map(([runAt, place]) => ({
          runAt: Number(runAt),
          place: Number(place)
        }))
        const last = candidates.toSorted((one, other) => one.runAt - other.runAt || one.place - other.place).at(-1)
        this.#due.set(queue, last === undefined || candidates.length < count ? { runAt: now, place: Infinity } : last)
      }
    })
    return false
  }

  /** When the first of the delayed jobs runs that are not loaded; lacking when it is not known. */
  earliest(queue: string, names: ReadonlyArray<string>): number {
    const unknown = names.filter((name) => !this.#knowsEarliest(lineOf(queue, name)))
    if (unknown.length > 0) this.#lackEarliest(queue, unknown)
    return names.reduce(
      (first, name) => Math.min(first, this.#earliest.get(lineOf(queue, name))?.runAt ?? Infinity),
      Infinity
    )
  }

  loads(): ReadonlyArray<Load> {
    const loads = Array.from(this.#open.values())
    this.#open = new Map()
    const lines = Array.from(this.#wanted, ([line, wanted]) => this.#grown(line, wanted))
    this.#wanted.clear()
    if (lines.length === 0) return loads
    const reached = lines.flatMap(({ name, queue }) => this.#reached.get(lineOf(queue, name)) ?? [])
    const parameters = [...Columns.parameters(lineFields, lines), ...Columns.parameters(reachFields, reached)]
    return [...loads, { sql: waiting, parameters, receive: (rows) => this.#receiveHeads(lines, rows) }]
  }

  #lackHead(line: string, queue: string, name: string): void {
    this.#run.lack()
    const { most } = this.#wanted.get(line) ?? { most: 0 }
    // Of each unit that asks one more.
    this.#wanted.set(line, { queue, name, most: most + 1 })
  }

  #grown(line: string, wanted: Line): Line {
    const most = Math.max(wanted.most, Math.min(2 * (this.#given.get(line) ?? 0), largestHead))
    this.#given.set(line, most)
    return { ...wanted, most }
  }

  #knowsEarliest(line: string): boolean {
    if (!this.#earliest.has(line)) return false
    const job = this.#earliest.get(line)
    return job === undefined || !this.#cells.hasSeq(job.seq)
  }

  #lackEarliest(queue: string, names: ReadonlyArray<string>): void {
    const known = Array.from(this.#cells.all()).flatMap(({ stored }) =>
      stored?.state === "delayed" && stored.queue === queue ? [stored.seq] : []
    )
    this.#lack(`earliest ${JSON.stringify([queue, names])}`, {
      sql: earliest,
      parameters: [queue, names, Columns.array(known, "int8")],
      receive: (rows) => {
        for (const name of names) this.#earliest.set(lineOf(queue, name), undefined)
        for (const [name, runAt, seq] of rows) {
          const line = lineOf(queue, String(name))
          const job = { runAt: Number(runAt), seq: Number(seq) }
          if (job.runAt < (this.#earliest.get(line)?.runAt ?? Infinity)) this.#earliest.set(line, job)
        }
      }
    })
  }

  #receiveHeads(lines: ReadonlyArray<Line>, rows: ReadonlyArray<Row>): void {
    const candidates = this.#receive(rows, 5, true)
    for (const { most, name, queue } of lines) {
      const line = lineOf(queue, name)
      const found = candidates.filter((row) => row[0] === queue && row[1] === name)
      const lanes = new Map(this.#reached.get(line)?.map((lane) => [lane.lane, { ...lane, to: end }]))
      for (const [lane, ofLane] of Map.groupBy(found, (row) => Number(row[2]))) {
        const places = ofLane.map((row) => Number(row[4]))
        const to = places.length < most ? end : Math.max(...places)
        lanes.set(lane, { lane, priority: Number(ofLane[0]?.[3]), to })
      }
      this.#reached.set(line, Array.from(lanes.values()))
    }
  }

  /** Takes the jobs behind so many columns of candidates, and gives the candidates. */
  #receive(rows: ReadonlyArray<Row>, columns: number, hasValues: boolean): ReadonlyArray<Row> {
    const candidates: Array<Row> = []
    for (const row of rows) {
      if (row[0] !== null) candidates.push(row)
      else this.#jobs.receive(row.slice(columns), hasValues)
    }
    return candidates
  }

  #lack(text: string, load: Load): void {
    this.#run.lack()
    this.#open.set(text, load)
  }
}

const reaches = ({ priority, to }: LaneReach, best: JobRow | undefined): boolean =>
  to === end || (best !== undefined && (best.priority > priority || (best.priority === priority && best.place <= to)))
