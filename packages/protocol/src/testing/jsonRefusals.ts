/** What JSON cannot hold: refused wherever a payload or an exit is taken, by the path to the culprit. */
import { describe } from "@effect/vitest"
import { Effect } from "effect"
import { maxDepth } from "../Json.ts"
import * as Kit from "./kit.ts"
import { valuePlaces } from "./valuePlaces.ts"
import { refuses, takes, trial } from "./world.ts"

class Money {
  readonly amount = 1
}

const withHole = (): Array<number> => {
  const list = [1]
  list[2] = 3
  return list
}

const circularObject = (): object => {
  const value: Record<string, unknown> = { a: 1 }
  value.self = value
  return value
}

const circularList = (): Array<unknown> => {
  const list: Array<unknown> = [1]
  list.push([list])
  return list
}

/** Lists within lists, so many levels deep. */
const nested = (levels: number): unknown => {
  let value: unknown = []
  for (let level = 1; level < levels; level++) value = [value]
  return value
}

/** A value that is refused, and where in it the culprit is. */
interface Culprit {
  readonly what: string
  readonly value: unknown
  readonly path: string
}

const culprits: ReadonlyArray<Culprit> = [
  { what: "NaN", value: Number.NaN, path: "" },
  { what: "Infinity", value: { rate: Number.POSITIVE_INFINITY }, path: ".rate" },
  { what: "-Infinity", value: [0, Number.NEGATIVE_INFINITY], path: "[1]" },
  { what: "a bigint", value: { id: 1n }, path: ".id" },
  { what: "a Date", value: { at: new Date(0) }, path: ".at" },
  { what: "an invalid Date", value: new Date(Number.NaN), path: "" },
  { what: "a function", value: { run: () => 1 }, path: ".run" },
  { what: "a function called toJSON", value: { toJSON: () => 1 }, path: ".toJSON" },
  { what: "a symbol", value: [Symbol("s")], path: "[0]" },
  { what: "a symbol as a key", value: { a: { [Symbol("s")]: 1 } }, path: ".a" },
  { what: "undefined in an object", value: { a: { b: undefined } }, path: ".a.b" },
  { what: "undefined in a list", value: { list: [1, undefined] }, path: ".list[1]" },
  { what: "a hole in a list", value: withHole(), path: "[1]" },
  { what: "a Map", value: new Map([["a", 1]]), path: "" },
  { what: "a Set", value: { set: new Set([1]) }, path: ".set" },
  { what: "an Error", value: { cause: new Error("no") }, path: ".cause" },
  { what: "a regular expression", value: /a/, path: "" },
  { what: "a URL", value: new URL("http://localhost"), path: "" },
  { what: "a promise", value: [Promise.resolve(1)], path: "[0]" },
  { what: "bytes", value: new Uint8Array([1, 2]), path: "" },
  { what: "a boxed string", value: [Object("text")], path: "[0]" },
  { what: "an instance of a class", value: { price: new Money() }, path: ".price" },
  { what: "an object with a prototype of its own", value: Object.create({ a: 1 }), path: "" },
  { what: "a circular object", value: circularObject(), path: "" },
  { what: "a circular list", value: circularList(), path: "" },
  { what: "a value nested too deep", value: nested(maxDepth + 1), path: "" },
  { what: "a value nested far too deep", value: nested(100_000), path: "" },
  { what: "NUL in a string", value: { a: ["x\u0000"] }, path: ".a[0]" },
  { what: "a lone surrogate in a string", value: { a: "\ud83d" }, path: ".a" },
  { what: "NUL in a key", value: { a: { "k\u0000": 1 } }, path: ".a" },
  { what: "a lone surrogate in a key", value: [{ "\udc00": 1 }], path: "[0]" }
]

export const jsonRefusals = (test: Kit.Test) =>
  describe("what JSON cannot hold", () => {
    for (const { path, value, what } of culprits) {
      test(`${what} is refused as a payload and as an exit, and nothing has changed`, (store) =>
        refuses(
          store,
          valuePlaces.map((place) => trial(place, value, path))
        ))
    }

    test(`a value may be nested ${maxDepth} levels deep`, (store) =>
      takes(
        store,
        valuePlaces.map((place) => trial(place, nested(maxDepth)))
      ))

    test("an object without a prototype is a plain object", (store) =>
      Effect.gen(function* () {
        const payload: Record<string, unknown> = Object.create(null)
        payload.a = 1
        const id = yield* Kit.add(store, { payload })
        yield* Kit.isJob(store, id, { payload: { a: 1 } })
      }))

    test("a value that occurs twice is no circle: it is kept twice", (store) =>
      Effect.gen(function* () {
        const twice = { a: [1] }
        const id = yield* Kit.add(store, { payload: { one: twice, other: twice } })
        yield* Kit.isJob(store, id, { payload: { one: { a: [1] }, other: { a: [1] } } })
      }))

    test("of several requests one that is refused lets none of them in", (store) =>
      Effect.gen(function* () {
        const good = Kit.request({ id: "good" })
        const bad = { ...Kit.request({ id: "bad" }), payload: Number.NaN }
        yield* Kit.refusedFor(store.enqueueMany([good, bad, good]), "InvalidArgument")
        yield* Kit.areStates(store, { good: "gone", bad: "gone" })
      }))
  })
