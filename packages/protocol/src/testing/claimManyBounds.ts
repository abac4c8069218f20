/** `claimMany`: how much one answer holds, which tokens are refused, and that all of it is one step. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Limits from "../Limits.ts"
import * as Kit from "./kit.ts"
import { over, refuses, refusesOver, trial } from "./world.ts"

const { claimLength, pageBytes } = Limits.defaults

/** A payload whose JSON text has a quarter of a page's bytes. */
const quarter = "x".repeat(pageBytes / 4 - '""'.length)

const size = (test: Kit.Test) => {
  test("the answer ends before it passes the bytes of a page: what does not fit is not claimed", (store) =>
    Effect.gen(function* () {
      // Beside the payloads the metadata counts, so the fourth job does not fit.
      for (const id of ["a", "b", "c", "d", "e"]) yield* Kit.add(store, { id, payload: quarter })
      const first = yield* Kit.takeMany(store, { tokens: ["t1", "t2", "t3", "t4", "t5"] })
      assert.deepStrictEqual(first.ids, ["a", "b", "c"])
      assert.isUndefined(first.empty)
      yield* Kit.areStates(store, { c: "active", d: "waiting", e: "waiting" })
      const rest = yield* Kit.takeMany(store, { tokens: ["t4", "t5", "t6"] })
      assert.deepStrictEqual(rest.ids, ["d", "e"])
      assert.isDefined(rest.empty)
    }))

  test("a smaller job behind one that does not fit is not given in its place", (store) =>
    Effect.gen(function* () {
      for (const id of ["a", "b", "c", "d"]) yield* Kit.add(store, { id, payload: quarter })
      yield* Kit.add(store, { id: "small" })
      assert.deepStrictEqual((yield* Kit.takeMany(store, { tokens: Kit.tokens(5) })).ids, ["a", "b", "c"])
      yield* Kit.areStates(store, { d: "waiting", small: "waiting" })
    }))

  test("the repeat of an answer that was cut is the same answer, and the jobs behind it are given by their tokens", (store) =>
    Effect.gen(function* () {
      for (const id of ["a", "b", "c", "d"]) yield* Kit.add(store, { id, payload: quarter })
      const options = { tokens: ["t1", "t2", "t3", "t4"] }
      const first = yield* Kit.takeMany(store, options)
      yield* Kit.takeMany(store, { tokens: ["t4"] })
      const again = yield* Kit.takeMany(store, options)
      assert.deepStrictEqual(again.answer, first.answer)
      assert.deepStrictEqual(again.ids, ["a", "b", "c"])
      assert.strictEqual((yield* Kit.take(store, { token: "t4" })).id, "d")
    }))

  test(`gives ${claimLength} jobs to as many tokens`, (store) =>
    Effect.gen(function* () {
      const ids = Array.from({ length: claimLength + 1 }, (_, index) => `job-${index}`)
      yield* store.enqueueMany(ids.map((id) => Kit.request({ id })))
      const taken = yield* Kit.takeMany(store, { tokens: Kit.tokens(claimLength) })
      assert.deepStrictEqual(taken.ids, ids.slice(0, claimLength))
      assert.deepStrictEqual(yield* Kit.takeAll(store), ids.slice(claimLength))
    }))
}

const refusals = (test: Kit.Test) => {
  const place = {
    operation: "claimMany",
    field: "options.tokens",
    call: (store: Kit.Store, _world: unknown, tokens: ReadonlyArray<string>) =>
      store.claimMany(Kit.claimManyOptions({ tokens }))
  }

  test("no token is refused, and nothing has changed", (store) => refuses(store, [trial(place, [])]))

  test("a token that comes twice is refused, and nothing has changed", (store) =>
    refuses(store, [
      trial(place, ["a", "a"], "[1]"),
      trial(place, ["a", "b", "c", "b"], "[3]"),
      trial(place, ["é", "e\u0301", "é"], "[2]")
    ]))

  test(`more than ${claimLength} tokens are refused, and nothing has changed`, (store) =>
    refusesOver(store, [over(place, Kit.tokens(claimLength + 1), claimLength)]))
}

/** The number in an id such as `job-7`. */
const numberIn = (id: string): number => Number(id.slice("job-".length))

const atOnce = (test: Kit.Test) => {
  test("calls at once never share a job, and each gets its jobs in line", (store) =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 100 }, (_, index) => `job-${index}`)
      yield* store.enqueueMany(ids.map((id) => Kit.request({ id })))
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, () => Kit.takeMany(store, { tokens: Kit.tokens(7) })),
        { concurrency: "unbounded" }
      )
      assert.sameMembers(
        answers.flatMap((answer) => answer.ids),
        ids
      )
      for (const { empty, ids } of answers) {
        // A store may pass over what another call is taking at that moment, but nothing overtakes within an answer.
        const numbers = ids.map(numberIn)
        assert.deepStrictEqual(
          numbers,
          numbers.toSorted((one, other) => one - other)
        )
        assert.strictEqual(empty !== undefined, ids.length < 7)
      }
    }))

  test("single claims beside it get what is left, each job once", (store) =>
    Effect.gen(function* () {
      yield* store.enqueueMany(Array.from({ length: 60 }, (_, index) => Kit.request({ id: `job-${index}` })))
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, (_, index) =>
          index % 2 === 0
            ? Effect.map(Kit.takeMany(store, { tokens: Kit.tokens(5) }), ({ ids }) => ids)
            : Effect.map(Kit.take(store), ({ id }) => [id])
        ),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(answers.flat()).size, 60)
      assert.strictEqual((yield* store.counts()).active, 60)
    }))

  test("nobody sees some of the jobs of a call taken and others not", (store) =>
    Effect.gen(function* () {
      yield* store.enqueueMany(Array.from({ length: 60 }, () => Kit.request()))
      const seen: Array<number> = []
      const look = Effect.map(store.counts(), ({ active }) => seen.push(active))
      yield* Effect.all(
        Array.from({ length: 12 }, () => [Kit.takeMany(store, { tokens: Kit.tokens(5) }), look, look]).flat(),
        { concurrency: "unbounded" }
      )
      assert.isNotEmpty(seen)
      assert.deepStrictEqual(
        seen.filter((active) => active % 5 !== 0),
        []
      )
    }))

  test("calls at once with the same tokens get the same jobs", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c", "d"])
      const answers = yield* Effect.all(
        Array.from({ length: 10 }, () => Kit.takeMany(store, { tokens: ["t1", "t2", "t3"] })),
        { concurrency: "unbounded" }
      )
      for (const { ids } of answers) assert.deepStrictEqual(ids, ["a", "b", "c"])
      yield* Kit.areStates(store, { d: "waiting" })
    }))
}

export const claimManyBounds = (test: Kit.Test) => {
  describe("claimMany: size", () => {
    size(test)
  })
  describe("claimMany: refusals", () => {
    refusals(test)
  })
  describe("claimMany: at once", () => {
    atOnce(test)
  })
}
