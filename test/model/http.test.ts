import * as Homes from "./homes.ts"
import { modelTest } from "./modelTest.ts"

// Every call is a request, so there are fewer in a history.
modelTest("memory over http", Homes.remote("http"), { turns: 40, share: 0.2 })
