import { jobStoreConformance } from "@jobwire/protocol/testing"
import * as SqliteJobStore from "../../src/drivers/sqlite/SqliteJobStore.ts"

jobStoreConformance("SqliteJobStore", () => SqliteJobStore.layer({ filename: ":memory:" }))
