/** The schema of the database that is Jobwire's own, and names in SQL. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect } from "effect"
import { driverFault } from "./PostgresFault.ts"
import { type DatabaseOptions, defaultSchema } from "./PostgresOptions.ts"

// PostgreSQL would cut a longer one, and keeps `pg_` for itself.
const pattern = /^(?!pg_)[A-Za-z_][A-Za-z0-9_]{0,62}$/

/** What the name of a schema may be, as errors say it. */
export const form = "a letter or _, then letters, digits and _, at most 63 in all, not beginning with pg_"

/** Whether it may be the name of Jobwire's schema. */
export const isSchemaName = (name: string): boolean => pattern.test(name)

/** The schema's name, if it may be one. */
export const of = ({ schema = defaultSchema }: DatabaseOptions): Effect.Effect<string, JobStoreError> =>
  isSchemaName(schema)
    ? Effect.succeed(schema)
    : Effect.fail(driverFault(`${JSON.stringify(schema)} cannot be the name of the schema: it is ${form}`, false))

/** A name as it stands in a statement. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
