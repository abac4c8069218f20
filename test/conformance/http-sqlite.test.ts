/** The database is in memory: that each test has a store of its own costs no disk here. Files are under test elsewhere. */
import { jobStoreConformance } from "@jobwire/protocol/testing"
import { SqliteJobStore } from "@jobwire/server"
import * as Network from "../support/network.ts"

jobStoreConformance("SqliteJobStore over http", () =>
  Network.remote(SqliteJobStore.layer({ filename: ":memory:" }), "http")
)
