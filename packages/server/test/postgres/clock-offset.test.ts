/** The distance between a server's clock and the database's. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { inject } from "vitest"
import { makeSessions } from "../../src/drivers/postgres/Connections.ts"
import { between, exceeds, measure } from "../../src/drivers/postgres/upkeep/ClockOffset.ts"

describe("the clock's offset", () => {
  it("is what the middle of the round trip is ahead by, give or take its half", () => {
    assert.deepStrictEqual(between(10_000, 9_000, 10_020), { offset: 1010, uncertainty: 10 })
  })

  it("is too big only when it surely is", () => {
    assert.isFalse(exceeds({ offset: 2005, uncertainty: 10 }, 2000))
    assert.isTrue(exceeds({ offset: 2011, uncertainty: 10 }, 2000))
    assert.isTrue(exceeds({ offset: -2011, uncertainty: 10 }, 2000))
  })

  it.live("is small on one machine", () =>
    Effect.gen(function* () {
      const sessions = yield* makeSessions({ url: Redacted.make(inject("postgresUrl")) }, {}, { min: 0, max: 1 })
      const measured = yield* measure(sessions)
      assert.isFalse(exceeds(measured, 1000))
    }).pipe(Effect.scoped)
  )
})
