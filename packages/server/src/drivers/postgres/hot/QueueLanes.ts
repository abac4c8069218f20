/**
 * The lanes of queues and names, as far as this server knows them. Any server may make one, so a statement counts for itself whether
 * these are all.
 */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Columns from "../Columns.ts"
import type { Session } from "../Connections.ts"
import type { LaneKey } from "../LaneNumbers.ts"

/** A queue and a name in a store. */
export interface Line {
  readonly store: number
  readonly queue: string
  readonly name: string
}

/** A lane of a line. */
export interface Lane {
  readonly lane: number
  readonly key: LaneKey
}

const columns: ReadonlyArray<Columns.Column<Line>> = [
  { name: "store", type: "int4", of: ({ store }) => store },
  { name: "queue", type: "text", of: ({ queue }) => queue },
  { name: "name", type: "text", of: ({ name }) => name }
]

const sql = `
  select w.position::int4, n.lane, n.priority from ${Columns.numberedRows(columns, "w")}
  cross join lateral (
    select n.lane, n.priority from lane n where n.store = w.store and n.queue = w.queue and n.name = w.name order by n.priority offset 0
  ) n`

// A producer may invent names without end.
const mostLines = 100_000

const textOf = ({ name, queue, store }: Line): string => JSON.stringify([store, queue, name])

/** See the file. */
export class QueueLanes {
  readonly #lanes = new Map<string, ReadonlyArray<Lane>>()

  /** The known lanes of these lines, by priority, the highest first. */
  find(lines: ReadonlyArray<Line>): ReadonlyArray<Lane> {
    const lanes = lines.flatMap((line) => this.#lanes.get(textOf(line)) ?? [])
    return lanes.length < 2 ? lanes : lanes.toSorted((one, other) => other.key.priority - one.key.priority)
  }

  /** Forgets these lines, since somebody has made a lane. */
  forget(lines: ReadonlyArray<Line>): void {
    for (const line of lines) this.#lanes.delete(textOf(line))
  }

  /** Learns the lanes of the lines that are not known. */
  learn(session: Session, lines: ReadonlyArray<Line>): Effect.Effect<void, SqlError> {
    const unknown = lines.filter((line) => !this.#lanes.has(textOf(line)))
    if (unknown.length === 0) return Effect.void
    return Effect.map(session.run(sql, Columns.parameters(columns, unknown)), (rows) => {
      if (this.#lanes.size > mostLines) this.#lanes.clear()
      const found = Map.groupBy(rows, ([position]) => Number(position) - 1)
      for (const [index, line] of unknown.entries()) {
        const { name, queue } = line
        const lanes = found.get(index)?.map(([, lane, priority]): Lane => ({
          lane: Number(lane),
          key: { queue, name, priority: Number(priority) }
        }))
        this.#lanes.set(textOf(line), lanes ?? [])
      }
    })
  }
}
