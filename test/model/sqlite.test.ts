import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"
import * as Homes from "./homes.ts"
import { modelTest } from "./modelTest.ts"
import type { Home } from "./run.ts"

const scope = Scope.makeUnsafe()
let home: Home

beforeAll(async () => {
  home = await Effect.runPromise(Effect.provideService(Homes.sqlite, Scope.Scope, scope))
})

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

modelTest(
  "sqlite",
  Effect.suspend(() => home)
)
