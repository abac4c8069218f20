/** Three servers on one database, and every call goes to the next of them. */
import { jobStoreConformance } from "@jobwire/protocol/testing"
import { freshFleet } from "../support/fleet.ts"

jobStoreConformance("three servers on PostgreSQL over http", () => freshFleet("http"))
