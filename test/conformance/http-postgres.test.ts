/** Each test has a store of its own name in the database of the run. */
import { jobStoreConformance } from "@jobwire/protocol/testing"
import { freshPostgres } from "../support/fresh-postgres.ts"
import * as Network from "../support/network.ts"

jobStoreConformance("PostgresJobStore over http", () => Network.remote(freshPostgres, "http"))
