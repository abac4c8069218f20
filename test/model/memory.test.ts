import * as Homes from "./homes.ts"
import { modelTest } from "./modelTest.ts"

modelTest("memory", Homes.memory)
