/** Each store has a name of its own in the database of the run. */
import { jobStoreConformance } from "@jobwire/protocol/testing"
import { freshPostgres } from "../../../../test/support/fresh-postgres.ts"

jobStoreConformance("PostgresJobStore", () => freshPostgres)
