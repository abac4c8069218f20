/**
 * Which jobs are loaded, and the statements that load more. Units that may write lock what is in `live`, by `seq`: a statement of
 * workers may hold a row, for a moment; what has become of it meanwhile is what the lock gives, or is found in `done` by the next
 * statement. What is in `done` nobody but units changes.
 */
import type { Row } from "../Connections.ts"
import { doneJob, doneJobWithoutValues, jobColumns, liveJob, liveJobWithoutValues } from "../JobColumns.ts"
import type { LaneNumbers } from "../LaneNumbers.ts"
import { each, eachLocked, jobAndLane } from "./Fences.ts"
import type { JobCell, JobCells } from "./JobCells.ts"
import type { Load, Mode } from "./Load.ts"
import type { Run } from "./Run.ts"

const ids = "unnest($2::text[]) as w(id)"

const anyById = `
  select ${jobColumns}, n.lane from ${ids} ${each("job", "id = w.id", "j")}
  left join lateral (select * from live where store = $1 and seq = j.seq offset 0) l on true
  left join lateral (select * from done where store = $1 and seq = j.seq offset 0) d on true
  ${each("lane", "lane = coalesce(l.lane, d.lane)", "n")}`

const liveById = (columns: string, live = eachLocked("seq = j.seq")): string => `
  select ${columns}, n.lane from (select j.* from ${ids} ${each("job", "id = w.id", "j")} order by j.seq) j
  ${live} ${each("lane", "lane = l.lane", "n")}`

const doneById = (columns: string): string => `
  select ${columns}, n.lane from ${ids} ${each("job", "id = w.id", "j")} ${each("done", "seq = j.seq", "d")}
  ${each("lane", "lane = d.lane", "n")}`

const livePeeked = liveById(liveJobWithoutValues, each("live", "seq = j.seq", "l"))
const liveNarrow = liveById(liveJobWithoutValues)
const doneNarrow = doneById(doneJobWithoutValues)
const liveWhole = liveById(liveJob)
const doneWhole = doneById(doneJob)

const byToken = `
  select ${liveJob}, n.lane from unnest($2::text[]) as w(token)
  ${eachLocked("token = w.token and state = 2")} ${jobAndLane("l")}`

const stalled = `
  select ${liveJobWithoutValues}, n.lane from (
    select * from live where store = $1 and state = 2 and lock_until <= $2::float8 order by seq for update
  ) l ${jobAndLane("l")}`

/** See the file. */
export class JobLoads {
  readonly #run: Run
  readonly #mode: Mode
  readonly #cells: JobCells
  readonly #lanes: LaneNumbers
  readonly #ids = new Set<string>()
  readonly #wholeIds = new Set<string>()
  readonly #peekedIds = new Set<string>()
  /** Ids that a dedupe key names. */
  readonly #keyed = new Set<string>()
  readonly #tokens = new Set<string>()
  readonly #knownTokens = new Set<string>()
  #stalledUntil = -Infinity
  #wantedStalled = -Infinity

  constructor(run: Run, mode: Mode, cells: JobCells, lanes: LaneNumbers) {
    this.#run = run
    this.#mode = mode
    this.#cells = cells
    this.#lanes = lanes
  }

  /** The job with this id; lacking when it is not loaded. Only those who read want its payload, metadata and exit at once. */
  find(id: string): JobCell | undefined {
    const cell = this.#cells.find(id)
    if (cell !== undefined) return cell
    this.#run.lack()
    // Most who come by a key only look: they shall not keep workers from the job.
    if (this.#keyed.has(id)) this.#peekedIds.add(id)
    else this.#ids.add(id)
    return undefined
  }

  /** Says that a dedupe key names this id. */
  keyed(id: string): void {
    this.#keyed.add(id)
  }

  /** Says that a job is wanted with its payload, metadata and exit. */
  lackValues(id: string): void {
    this.#run.lack()
    this.#wholeIds.add(id)
  }

  /** Whether the job that the token held is loaded, or there was none; otherwise it is lacking. */
  hasToken(token: string): boolean {
    if (this.#knownTokens.has(token)) return true
    this.#run.lack()
    this.#tokens.add(token)
    return false
  }

  /** Whether all jobs are loaded whose leases end by this moment; otherwise they are lacking. */
  hasStalled(moment: number): boolean {
    if (moment <= this.#stalledUntil) return true
    this.#run.lack()
    this.#wantedStalled = Math.max(moment, this.#wantedStalled)
    return false
  }

  /** Takes a job in the columns of a list of this folder, with the number of its lane behind them. */
  receive(row: Row, hasValues: boolean, isLocked = true): JobCell {
    const cell = this.#cells.receive(row, hasValues, isLocked)
    if (cell.stored !== undefined) this.#lanes.learn(cell.stored, Number(row.at(-1)))
    return cell
  }

  loads(): ReadonlyArray<Load> {
    return [...this.#loadsById(), ...this.#loadsByToken(), ...this.#loadsOfStalled()]
  }

  #loadsById(): ReadonlyArray<Load> {
    const toLock = this.#cells.takeUnlocked()
    const ids = taken(this.#ids)
    const peeked = taken(this.#peekedIds)
    const whole = taken(this.#wholeIds)
    if (this.#mode === "read") return this.#loadById([...ids, ...peeked], [anyById], true, false)
    return [
      ...this.#loadById(peeked, [livePeeked, doneNarrow], false, false),
      ...this.#loadById([...ids, ...toLock], [liveNarrow, doneNarrow], false, true),
      ...this.#loadById(whole, [liveWhole, doneWhole], true, true)
    ]
  }

  #loadById(
    ids: ReadonlyArray<string>,
    statements: ReadonlyArray<string>,
    hasValues: boolean,
    isLocked: boolean
  ): ReadonlyArray<Load> {
    if (ids.length === 0) return []
    return statements.map((sql) => ({
      sql,
      parameters: [ids],
      receive: (rows) => {
        for (const row of rows) this.receive(row, hasValues, isLocked)
        // What none of them has found is nowhere.
        if (sql === statements.at(-1)) for (const id of ids) this.#cells.receiveAbsent(id)
      }
    }))
  }

  #loadsByToken(): ReadonlyArray<Load> {
    const tokens = Array.from(this.#tokens)
    this.#tokens.clear()
    if (tokens.length === 0) return []
    const receive = (rows: ReadonlyArray<Row>): void => {
      for (const row of rows) this.receive(row, true)
      for (const token of tokens) this.#knownTokens.add(token)
    }
    return [{ sql: byToken, parameters: [tokens], receive }]
  }

  #loadsOfStalled(): ReadonlyArray<Load> {
    const moment = this.#wantedStalled
    if (moment <= this.#stalledUntil) return []
    const receive = (rows: ReadonlyArray<Row>): void => {
      for (const row of rows) this.receive(row, false)
      this.#stalledUntil = moment
    }
    return [{ sql: stalled, parameters: [moment], receive }]
  }
}

const taken = (ids: Set<string>): ReadonlyArray<string> => {
  const all = Array.from(ids)
  ids.clear()
  return all
}
