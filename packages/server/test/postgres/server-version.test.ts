/** Versions of PostgreSQL that are too old. */
import { PostgresJobStore } from "@jobwire/server/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { inject } from "vitest"
import * as ServerVersion from "../../src/drivers/postgres/ServerVersion.ts"

describe("the version of PostgreSQL", () => {
  it("is refused below 14, by a sentence that names it", () => {
    assert.include(ServerVersion.refusalOf(130_022, "13.22")?.message, "PostgreSQL 13.22")
    assert.isFalse(ServerVersion.refusalOf(130_022, "13.22")?.isRetryable)
    assert.isUndefined(ServerVersion.refusalOf(140_000, "14.0"))
  })

  it.live("is asked for when stores are opened", () =>
    Effect.gen(function* () {
      const url = Redacted.make(inject("postgresUrl"))
      yield* ServerVersion.check({ url })
      assert.strictEqual((yield* PostgresJobStore.check({ url })).current, 2)
    })
  )
})
