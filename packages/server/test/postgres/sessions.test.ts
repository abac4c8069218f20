/** Connections keep their sessions, or are refused. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { inject } from "vitest"
import * as SessionCheck from "../../src/drivers/postgres/SessionCheck.ts"
import * as TransactionPooler from "../../../../test/support/postgres/transaction-pooler.ts"

const pooler = Effect.acquireRelease(
  Effect.promise(() => TransactionPooler.start(inject("postgresUrl"))),
  ({ close }) => Effect.sync(close)
)

describe("the check of sessions", () => {
  it.live("passes on a database of its own", () => SessionCheck.check({ url: Redacted.make(inject("postgresUrl")) }))

  it.live("refuses a pooler in transaction mode, and says what to do", () =>
    Effect.gen(function* () {
      const { url } = yield* pooler
      const error = yield* Effect.flip(SessionCheck.check({ url: Redacted.make(url) }))
      assert.deepStrictEqual(error.reason, { _tag: "DriverFault", transient: false })
      assert.include(error.message, "session mode")
    }).pipe(Effect.scoped)
  )
})
