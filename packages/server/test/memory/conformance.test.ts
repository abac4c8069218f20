import { jobStoreConformance } from "@jobwire/protocol/testing"
import * as MemoryJobStore from "../../src/drivers/memory/MemoryJobStore.ts"

jobStoreConformance("MemoryJobStore", () => MemoryJobStore.layer)
