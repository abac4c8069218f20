/** Where the database is, and how a server uses it. */
import type { Duration, Redacted } from "effect"
import type { StoreOptions } from "../embedded/StoreOptions.ts"

/** The database, and the schema in it that is Jobwire's own. */
export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`, with libpq's parameters (`sslmode`, …). */
  readonly url: Redacted.Redacted
  /** `jobwire` unless given. */
  readonly schema?: string | undefined
}

/** Options of the stores in one PostgreSQL database. */
export interface PostgresOptions extends DatabaseOptions, StoreOptions {
  /**
   * Brings the schema to this version's layout at the start. Off unless given: then a server refuses to work with another layout,
   * and its role needs no right to change one.
   */
  readonly migrate?: boolean | undefined
  /** Connections for the calls of workers and producers, at most. 6 unless given. */
  readonly hotConnections?: number | undefined
  /** Connections for lists and dashboards, at most. 3 unless given. */
  readonly calmConnections?: number | undefined
  /** How long one statement may run before the database gives it up. 30 seconds unless given. */
  readonly statementTimeout?: Duration.Input | undefined
  /** How often a server looks for jobs that none of its parked waits was told of; nobody waits longer for one. 5 seconds unless given. */
  readonly wakePollInterval?: Duration.Input | undefined
  /** How far the server's clock may be from the database's before a warning is logged. 2 seconds unless given. */
  readonly clockOffsetLimit?: Duration.Input | undefined
}

/** The schema's name when none is given. */
export const defaultSchema = "jobwire"
