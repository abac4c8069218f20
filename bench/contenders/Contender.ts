/** A contender: a store, the way it is reached, and the workloads that it can be put to. */
import type { Postgres } from "../services/postgres.ts"

/** A fresh, empty place for one measurement. */
export interface Ground {
  /** Where the adapter finds it. */
  readonly url: string
  /** The URL of the database, where there is one that the bench may look into. */
  readonly database?: string | undefined
  /** Program, version and durability of the service that it stands on; empty where there is none. */
  readonly service: string
  readonly clear: () => Promise<void>
}

/** Makes the ground for one measurement; none when the service that it needs is not installed. */
export type MakeGround = (postgres: () => Promise<Postgres>) => Promise<Ground | undefined>

/**
 * What not every contender can do, or not in a way that can be compared.
 * - `waiting`: it keeps its jobs in PostgreSQL, where those that wait may slow it down, and so may an old transaction.
 * - `finished`: the same, and finished jobs stay there too.
 * - `queues`: one worker process can take from thousands of queues.
 * - `names`: a worker can take jobs of one name from among others.
 */
export type Ability = "waiting" | "finished" | "queues" | "names"

/** What a contender is. */
export interface Contender {
  /** As in `--only`. */
  readonly name: string
  /** As in the tables. */
  readonly label: string
  /** The settings that were chosen for it, in a few words. */
  readonly settings: string
  /** The module of its adapter. */
  readonly module: URL
  readonly options: Readonly<Record<string, string | number | boolean>>
  /** Where its packages come from, when that is not where its adapter lies. */
  readonly dependencies?: URL
  readonly ground: MakeGround
  /** Producer and worker are in one process: the store knows no other. */
  readonly oneProcess?: boolean
  readonly abilities: ReadonlyArray<Ability>
}
