import * as Homes from "./homes.ts"
import { modelTest } from "./modelTest.ts"

modelTest("memory over websocket", Homes.remote("websocket"), { turns: 50 })
