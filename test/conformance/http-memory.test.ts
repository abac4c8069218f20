import { jobStoreConformance } from "@jobwire/protocol/testing"
import { MemoryJobStore } from "@jobwire/server"
import * as Network from "../support/network.ts"

jobStoreConformance("MemoryJobStore over http", () => Network.remote(MemoryJobStore.layer, "http"))
