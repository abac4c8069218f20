/** Job stores in a PostgreSQL database: durable, and shared by any number of servers. */
export { addMetadataIndex } from "./MetadataIndexing.ts"
export { grant } from "./Rights.ts"
export { check, type Migration, migrate, refuse, type SchemaVersion } from "./Migrations.ts"
export type { PostgresOptions } from "./PostgresOptions.ts"
