/** Which jobs nobody got, decided for all calls of a token that overlap. */
import { assert, describe, it } from "@effect/vitest"
import { ClaimTalks } from "../../src/http/ClaimTalks.ts"

const at = (id: string, processedAt: number) => ({ id, processedAt })

describe("a claim", () => {
  it("that took a job and was not delivered gives it back, in the same millisecond too", () => {
    const talks = new ClaimTalks()
    talks.begin("t", 5)
    assert.strictEqual(talks.end("t", at("job", 5), false), "job")
    assert.strictEqual(talks.size, 0)
  })

  it("that was delivered, or got nothing, gives nothing back", () => {
    const talks = new ClaimTalks()
    talks.begin("t", 5)
    talks.begin("u", 5)
    assert.isUndefined(talks.end("t", at("job", 5), true))
    assert.isUndefined(talks.end("u", undefined, false))
  })

  it("that got what an earlier one took gives nothing back", () => {
    const talks = new ClaimTalks()
    talks.begin("t", 5)
    assert.isUndefined(talks.end("t", at("job", 4), false))
  })

  it("that got what was delivered in its own millisecond gives nothing back", () => {
    const talks = new ClaimTalks()
    talks.begin("t", 5)
    talks.end("t", at("job", 5), true)
    talks.begin("t", 5)
    assert.isUndefined(talks.end("t", at("job", 5), false))
  })

  it("of a token that is used again gives back the job it took afterwards", () => {
    const talks = new ClaimTalks()
    talks.begin("t", 5)
    talks.end("t", at("first", 5), true)
    talks.begin("t", 5)
    assert.strictEqual(talks.end("t", at("second", 5), false), "second")
  })
})

describe("claims that overlap", () => {
  for (const order of ["lost before delivered", "delivered before lost"] as const) {
    it(`keep their job when one of them was delivered: ${order}`, () => {
      const talks = new ClaimTalks()
      talks.begin("t", 5)
      talks.begin("t", 9)
      const lostFirst = order === "lost before delivered"
      assert.isUndefined(talks.end("t", at("job", 6), !lostFirst))
      assert.isUndefined(talks.end("t", at("job", 6), lostFirst))
      assert.strictEqual(talks.size, 0)
    })
  }

  it("give it back when the last has ended and none was delivered, whichever of them took it", () => {
    for (const processedAt of [5, 9, 12]) {
      const talks = new ClaimTalks()
      talks.begin("t", 5)
      talks.begin("t", 9)
      assert.isUndefined(talks.end("t", at("job", processedAt), false))
      assert.strictEqual(talks.end("t", undefined, false), "job")
    }
  })
})
