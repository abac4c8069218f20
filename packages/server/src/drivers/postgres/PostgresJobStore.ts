/** Job stores in a PostgreSQL database: durable, and shared by any number of servers. */
export { check, migrate } from "./Migrations.ts"
export type { PostgresOptions } from "./PostgresOptions.ts"
