import { Effect } from "effect"
import * as MemoryTables from "../../src/drivers/memory/MemoryTables.ts"
import { memoryStorage } from "../../src/drivers/memory/MemoryStorage.ts"
import { histories } from "../embedded/histories.ts"

histories(
  "memory",
  Effect.sync(() => memoryStorage(MemoryTables.make()))
)
