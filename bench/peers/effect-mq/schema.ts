/**
 * Prints the SQL that makes effect-mq's tables: what drizzle-kit generates from its definitions, as its documentation says. One thing
 * is left out: `nulls last` on the descending columns of two indexes, which keeps PostgreSQL from using them for effect-mq's own
 * `order by … desc`. With it every claim sorts the whole queue, and the comparison would be with that.
 */
import { generateDrizzleJson, generateMigration } from "drizzle-kit/api-postgres"
import { tables } from "./tables.ts"

const [nothing, all] = await Promise.all([generateDrizzleJson({}), generateDrizzleJson({ ...tables })])
const statements = await generateMigration(nothing, all)
console.log(statements.map((text) => text.replaceAll("DESC NULLS LAST", "DESC")).join("\n"))
