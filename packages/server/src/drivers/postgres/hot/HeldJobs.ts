/** Statements about jobs that are held, one item a job, that all callers of a server share. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect, type Scope } from "effect"
import type { Sessions } from "../Connections.ts"
import * as Positions from "./Positions.ts"
import { repeatable } from "./Repeatable.ts"
import * as Sharing from "./Sharing.ts"

/** Which job. */
interface OfJob {
  readonly store: number
  readonly id: string
}

/** The statement, and how its callers are gathered. */
export interface HeldStatement<Item> {
  readonly sql: string
  readonly parameters: (items: ReadonlyArray<Item>) => ReadonlyArray<unknown>
  readonly atOnce: number
  /** Items by one statement. */
  readonly most: number
}

/** Whether each item was carried out; the others have changed nothing. */
export interface EachHeld<Item> {
  (items: ReadonlyArray<Item>): Effect.Effect<ReadonlyArray<boolean>, JobStoreError>
}

/** The positions of the first item of each job: what comes behind it may mean something else once it is carried out. */
const firsts = (items: ReadonlyArray<OfJob>): ReadonlyArray<number> => {
  const seen = new Set<string>()
  const positions: Array<number> = []
  for (const [position, { id, store }] of items.entries()) {
    const key = `${store} ${id}`
    if (seen.has(key)) continue
    seen.add(key)
    positions.push(position)
  }
  return positions
}

/** See the file; for as long as the scope lives. Carried out twice, the second time changes nothing. */
export const make = <Item extends OfJob>(
  sessions: Sessions,
  { atOnce, most, parameters, sql }: HeldStatement<Item>
): Effect.Effect<EachHeld<Item>, never, Scope.Scope> =>
  Sharing.make<ReadonlyArray<Item>, ReadonlyArray<boolean>>({
    atOnce,
    mostWeight: most,
    weightOf: ({ length }) => length,
    run: (callers) => {
      const items = callers.flat()
      const positions = firsts(items)
      // Every position is of an item.
      const distinct = positions.map((position) => items[position] as Item)
      return Effect.map(
        repeatable(sessions, (session) => session.run(sql, parameters(distinct))),
        (rows) => {
          const done = new Set(Array.from(Positions.decode(rows), (position) => positions[position]))
          let first = 0
          return callers.map(({ length }) => {
            const from = first
            first += length
            return Array.from({ length }, (_, index) => done.has(from + index))
          })
        }
      )
    }
  })
