import { assert, describe, it } from "@effect/vitest"
import { Json } from "@jobwire/protocol"
import { Effect, Schema } from "effect"
import * as fc from "fast-check"
import { runInNewContext } from "node:vm"

const nested = (depth: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

const circular: { self?: unknown } = {}
circular.self = circular

const good: Record<string, unknown> = {
  nothing: undefined,
  null: null,
  booleans: [true, false],
  numbers: [0, -0, 1.5, -1e308, 5e-324, Number.MAX_SAFE_INTEGER],
  "empty things": ["", [], {}],
  "unicode, escapes and line separators": 'ü ✓ 😀 \u0001 \u2028 " \\ \ufeff',
  "an object without a prototype": Object.assign(Object.create(null), { a: 1 }),
  "an object of another realm": runInNewContext("({ a: [1, { b: null }] })"),
  "an own key __proto__": JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}'),
  "the greatest depth": nested(Json.maxDepth),
  "one object at two places": [circularFree(), circularFree()]
}

function circularFree() {
  const shared = { a: 1 }
  return { first: shared, second: shared }
}

const bad: Record<string, readonly [value: unknown, path: string, problem: RegExp]> = {
  NaN: [Number.NaN, "", /^is NaN, which JSON cannot hold$/],
  "an infinity inside": [{ a: [1, -Infinity] }, ".a[1]", /^is -Infinity, which JSON cannot hold$/],
  "a bigint": [{ a: 1n }, ".a", /^is a bigint, which JSON cannot hold$/],
  "a function": [[() => 1], "[0]", /^is a function, which JSON cannot hold$/],
  "a symbol": [Symbol("s"), "", /^is a symbol, which JSON cannot hold$/],
  "undefined in an object": [{ a: undefined }, ".a", /^is undefined, which JSON cannot hold$/],
  "undefined in an array": [[1, undefined], "[1]", /^is undefined, which JSON cannot hold$/],
  // A hole, as sparse arrays have it.
  "a hole in an array": [Array(2), "[0]", /^is undefined, which JSON cannot hold$/],
  "a Date": [{ at: new Date(0) }, ".at", /^is a Date, not a plain object$/],
  "a Map": [new Map(), "", /^is a Map, not a plain object$/],
  "an Error": [new Error("no"), "", /^is an Error, not a plain object$/],
  "typed arrays": [new Uint8Array(2), "", /^is an? Uint8Array, not a plain object$/],
  "a class instance": [new URL("https://example.com"), "", /^is an? URL, not a plain object$/],
  "a boxed number": [Object(1), "", /^is a Number, not a plain object$/],
  "an own toJSON": [{ toJSON: () => 1 }, ".toJSON", /^is a function/],
  "a symbol as a key": [{ [Symbol("s")]: 1 }, "", /^has a symbol as a key$/],
  "a NUL": [{ a: "x\u0000" }, ".a", /^contains a NUL character/],
  "a NUL in a key": [{ a: { "\u0000": 1 } }, ".a", /^has a key that contains a NUL character/],
  "a lone high surrogate": [["\ud83d"], "[0]", /^contains a lone surrogate/],
  "a lone low surrogate": ["a\ude00b", "", /^contains a lone surrogate/],
  "a lone surrogate in a key": [{ "\ud83d": 1 }, "", /^has a key that contains a lone surrogate/],
  "one level too deep": [nested(Json.maxDepth + 1), "", /^is nested deeper than 256 levels, or circular$/],
  "a circle": [circular, "", /^is nested deeper than 256 levels, or circular$/]
}

describe("inspect", () => {
  for (const [what, value] of Object.entries(good)) {
    it(`passes ${what}`, () => {
      assert.isUndefined(Json.inspect(value).problem)
      assert.isAtLeast(Json.inspect(value).bytesAtMost, Json.byteLength(value))
    })
  }

  for (const [what, [value, path, problem]] of Object.entries(bad)) {
    it(`finds ${what}, and says where`, () => {
      const found = Json.inspect(value).problem
      assert.strictEqual(found?.path, path)
      assert.match(found?.problem ?? "", problem)
    })
  }

  it("names the first problem", () => {
    assert.strictEqual(Json.inspect({ good: 1, first: Number.NaN, second: undefined }).problem?.path, ".first")
  })

  it("passes whatever JSON.parse gives, and bounds its size", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6, stringUnit: "binary" }), (text) => {
        const value: unknown = JSON.parse(text)
        const { bytesAtMost, problem } = Json.inspect(value)
        if (problem !== undefined) {
          // Only what not every database can keep may be refused.
          assert.match(problem.problem, /NUL character|lone surrogate/)
          return
        }
        assert.isAtLeast(bytesAtMost, Buffer.byteLength(JSON.stringify(value)))
      })
    )
  })

  it("passes only what comes back the same from JSON text", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true }), (value) => {
        if (value === undefined || Json.inspect(value).problem !== undefined) return
        const text = JSON.stringify(value)
        assert.strictEqual(JSON.stringify(JSON.parse(text)), text)
      })
    )
  })
})

describe("sizes", () => {
  it("utf8Length is the length of a well-formed text when it is encoded", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        assert.strictEqual(Json.utf8Length(text), Buffer.byteLength(text))
      })
    )
    for (const [text, bytes] of [
      ["", 0],
      ["a", 1],
      ["\u007f\u0080", 3],
      ["\u07ff\u0800", 5],
      ["\uffff", 3],
      ["😀", 4]
    ] as const) {
      assert.strictEqual(Json.utf8Length(text), bytes)
    }
  })

  it("byteLength is the size of the JSON text, 0 for undefined", () => {
    assert.strictEqual(Json.byteLength(undefined), 0)
    assert.strictEqual(Json.byteLength(null), 4)
    assert.strictEqual(Json.byteLength("ü"), 4)
    assert.strictEqual(Json.byteLength({ a: [1, "x"] }), 13)
  })
})

describe("findStringProblem", () => {
  it("finds NUL and lone surrogates, and passes pairs", () => {
    assert.isUndefined(Json.findStringProblem("a😀\u0001\ufffd"))
    assert.match(Json.findStringProblem("a\u0000b") ?? "", /NUL/)
    assert.match(Json.findStringProblem("\ude00\ud83d") ?? "", /surrogate/)
  })
})

describe("JsonValue", () => {
  const codec = Schema.toCodecJson(Json.JsonValue)

  it.effect("takes and gives the value itself, without walking it", () =>
    Effect.gen(function* () {
      for (const value of Object.values(good)) {
        assert.strictEqual(yield* Schema.encodeEffect(codec)(value), value)
        assert.strictEqual(yield* Schema.decodeUnknownEffect(codec)(value), value)
      }
    })
  )

  it("is any JSON value in a JSON Schema document", () => {
    const document = Schema.toJsonSchemaDocument(Json.JsonValue)
    assert.notProperty(document.schema, "type")
  })
})
