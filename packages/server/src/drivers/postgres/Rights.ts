/** What a role must be allowed so that a server can work with it: to read and write rows, and nothing of the layout. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as LiveClock from "../../LiveClock.ts"
import { makeSessions, type Session, type Sessions, transaction } from "./Connections.ts"
import { lock, refuse, version } from "./Migrations.ts"
import { driverFault, fromSql } from "./PostgresFault.ts"
import type { DatabaseOptions } from "./PostgresOptions.ts"
import * as SchemaName from "./SchemaName.ts"

const rows = "select, insert, update, delete"

// The last two are for the tables of later layouts. docs/postgres.md has the same statements for those who run them by hand.
const grants = (schemaName: string, roleName: string): ReadonlyArray<string> => {
  const schema = SchemaName.quoted(schemaName)
  const role = SchemaName.quoted(roleName)
  return [
    `grant usage on schema ${schema} to ${role}`,
    `grant ${rows} on all tables in schema ${schema} to ${role}`,
    `grant usage on all sequences in schema ${schema} to ${role}`,
    `alter default privileges in schema ${schema} grant ${rows} on tables to ${role}`,
    `alter default privileges in schema ${schema} grant usage on sequences to ${role}`
  ]
}

// A server only reads what names the layout and the database, and the sequences of identity columns need no right.
const missing = `
  with asked as (select coalesce($2::text::name, current_user) as role),
  class as (select c.* from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1)
  select role, 'usage on schema ' || $1 from asked where not has_schema_privilege(role, $1, 'usage')
  union all
  select role, word || ' on ' || $1 || '.' || relname from asked, class, unnest(string_to_array('${rows}', ', ')) word
  where relkind = 'r' and (word = 'select' or relname not in ('migration', 'origin')) and not has_table_privilege(role, oid, word)
  union all
  select role, 'usage on ' || $1 || '.' || relname from asked, class
  where relkind = 'S' and not has_sequence_privilege(role, oid, 'usage')
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = class.oid and d.deptype = 'i')`

// Of the role, or of the one of this session.
const check = (session: Session, schema: string, role?: string): Effect.Effect<void, JobStoreError | SqlError> =>
  Effect.flatMap(session.run(missing, [schema, role ?? null]), ([first]) => {
    if (first === undefined) return Effect.void
    const [name, right] = first.map(String)
    const advice = `let the role that owns the schema run \`jobwire migrate --grant ${name}\``
    return Effect.fail(driverFault(`the role ${JSON.stringify(name)} needs ${right}: ${advice}`, false))
  })

/** Fails when the role of these sessions may not do all that serving takes, and says what it lacks. */
export const require = Effect.fnUntraced(
  function* (sessions: Sessions, options: DatabaseOptions) {
    const schema = yield* SchemaName.of(options)
    yield* sessions.use((session) => check(session, schema))
  },
  LiveClock.withLive,
  Effect.catchTag("SqlError", (error) => Effect.fail(fromSql(error)))
)

const grantAll = Effect.fnUntraced(function* (session: Session, schema: string, role: string) {
  // Two grants on one object at a time fail.
  yield* lock(session, schema)
  for (const statement of grants(schema, role)) yield* session.run(statement)
  // A grant of what one does not own may do nothing but warn.
  yield* check(session, schema, role)
})

/** Allows a role that is there to serve on a schema that has this version's layout. Doing it again changes nothing. */
export const grant: (options: DatabaseOptions, role: string) => Effect.Effect<void, JobStoreError> = Effect.fnUntraced(
  function* (options, role) {
    const schema = yield* SchemaName.of(options)
    const sessions = yield* makeSessions(options, {}, { min: 0, max: 1 })
    yield* refuse(yield* sessions.use((session) => version(session, schema)))
    yield* sessions.use((session) => transaction(session, grantAll(session, schema, role)))
  },
  Effect.scoped,
  Effect.catchTag("SqlError", (error) => Effect.fail(fromSql(error)))
)
