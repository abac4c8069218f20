import { jobStoreConformance } from "@jobwire/protocol/testing"
import { freshSqlite } from "../support/fresh-sqlite.ts"
import * as Network from "../support/network.ts"

jobStoreConformance("SqliteJobStore over websocket", () => Network.remote(freshSqlite, "websocket"))
