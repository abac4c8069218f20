import { jobStoreConformance } from "@jobwire/protocol/testing"
import { MemoryJobStore } from "@jobwire/server"
import * as Network from "../support/network.ts"

jobStoreConformance("MemoryJobStore over websocket", () => Network.remote(MemoryJobStore.layer, "websocket"))
