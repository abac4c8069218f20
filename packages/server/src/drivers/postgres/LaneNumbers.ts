/**
 * The numbers of a store's lanes: the jobs of one queue, name and priority. A lane gets its number once and keeps it, so what a server
 * has learnt stays right.
 */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Columns from "./Columns.ts"
import type { Session } from "./Connections.ts"

/** What makes a lane; a job has all of it. */
export interface LaneKey {
  readonly queue: string
  readonly name: string
  readonly priority: number
}

const fields: ReadonlyArray<Columns.Column<LaneKey>> = [
  { name: "queue", type: "text", of: ({ queue }) => queue },
  { name: "name", type: "text", of: ({ name }) => name },
  { name: "priority", type: "float8", of: ({ priority }) => priority }
]

// Everybody makes lanes in this order, so that nobody waits for one who waits for him.
const insert = `
  insert into lane (store, queue, name, priority)
  select $1, r.queue, r.name, r.priority from ${Columns.rows(fields, "r", 2)}
  order by r.queue collate "C", r.name collate "C", r.priority
  on conflict (store, queue, name, priority) do nothing`

const find = `
  select n.queue, n.name, n.priority, n.lane from ${Columns.rows(fields, "r", 2)}
  cross join lateral (
    select * from lane where store = $1 and queue = r.queue and name = r.name and priority = r.priority offset 0
  ) n`

const textOf = ({ name, priority, queue }: LaneKey): string => JSON.stringify([queue, name, priority])

/** Numbers that are known. */
export class LaneNumbers {
  readonly #numbers = new Map<string, number>()
  readonly #beneath: LaneNumbers | undefined

  /** Knows what those beneath know, and tells them nothing of what it learns. */
  constructor(beneath?: LaneNumbers) {
    this.#beneath = beneath
  }

  /** The number of the lane, if it is known. */
  find(key: LaneKey): number | undefined {
    return this.#numbers.get(textOf(key)) ?? this.#beneath?.find(key)
  }

  /** The number of a lane that was ensured. */
  get(key: LaneKey): number {
    const number = this.find(key)
    if (number === undefined) throw new Error(`the lane ${textOf(key)} has no number`)
    return number
  }

  /** Remembers a number that the database has for good. */
  learn(key: LaneKey, number: number): void {
    this.#numbers.set(textOf(key), number)
  }

  /** Of these lanes, each once, those that are not known. */
  unknown(keys: Iterable<LaneKey>): ReadonlyArray<LaneKey> {
    const unknown = new Map<string, LaneKey>()
    for (const key of keys) {
      if (this.find(key) === undefined) unknown.set(textOf(key), key)
    }
    return Array.from(unknown.values())
  }
}

/** Makes the lanes that are not there; answers the number of each, which holds once this is committed. */
export const make = (
  session: Session,
  store: number,
  keys: ReadonlyArray<LaneKey>
): Effect.Effect<ReadonlyArray<readonly [lane: LaneKey, number: number]>, SqlError> => {
  const parameters = [store, ...Columns.parameters(fields, keys)]
  return session.run(insert, parameters).pipe(
    Effect.andThen(session.run(find, parameters)),
    Effect.map((rows) =>
      rows.map(([queue, name, priority, lane]) => [
        { queue: String(queue), name: String(name), priority: Number(priority) },
        Number(lane)
      ])
    )
  )
}
