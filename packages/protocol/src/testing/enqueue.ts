/** Putting one job in. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Kit from "./kit.ts"

export const enqueue = (test: Kit.Test) =>
  describe("enqueue", () => {
    test("without a delay the job is waiting, with every field of the record", (store) =>
      Effect.gen(function* () {
        const request = Kit.request()
        const id = yield* Kit.add(store)
        assert.deepStrictEqual(yield* Kit.find(store, id), Kit.recordOf(id, request))
      }))
  })
