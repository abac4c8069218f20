/** Decisions: by the seed and the number alone, as often as the rate says, of the kinds that are wanted. */
import { describe, expect, it } from "vitest"
import { type Decision, decide } from "../src/Decision.ts"
import { drawsOf } from "../src/Draws.ts"
import { canHit, hitsOf, kinds, type Target, targets } from "../src/Kinds.ts"
import { change, defaults, type Settings } from "../src/Settings.ts"
import { describe as inWords } from "../src/Words.ts"

const base: Settings = { ...defaults, upstreams: ["http://127.0.0.1:1"], rate: 0.2 }
const many = Array.from({ length: 20_000 }, (_, n) => n + 1)

const decisions = (settings: Settings, seed: number, target: Target): ReadonlyArray<Decision | undefined> =>
  many.map((n) => decide(settings, seed, n, target))

const isHit = (decision: Decision | undefined): decision is Decision => decision !== undefined

const problemOf = (changes: Record<string, unknown>): string => {
  const result = change(base, changes)
  return result._tag === "Failure" ? result.failure.message : "none"
}

describe("draws", () => {
  it("are spread evenly, and those of one number or name say nothing about those of another", () => {
    const rows = many.map((n) => drawsOf(42, n))
    for (const name of ["hit", "kind", "amount"] as const) {
      const tenths = Array.from({ length: 10 }, () => 0)
      for (const draw of rows) tenths[Math.floor(draw(name) * 10)]!++
      // Two thousand each, give or take five standard deviations.
      for (const count of tenths) expect(Math.abs(count - 2000)).toBeLessThan(5 * Math.sqrt(20_000 * 0.1 * 0.9))
    }
    const both = rows.filter((draw, at) => draw("hit") < 0.5 && (rows[at + 1]?.("hit") ?? 1) < 0.5).length
    expect(Math.abs(both - 5000)).toBeLessThan(400)
    const pairs = rows.filter((draw) => draw("hit") < 0.5 && draw("kind") < 0.5).length
    expect(Math.abs(pairs - 5000)).toBeLessThan(400)
  })

  it("differ by the seed, also for seeds that are close", () => {
    const equal = many.filter((n) => drawsOf(1, n)("hit") < 0.2 === drawsOf(2, n)("hit") < 0.2).length
    // Of two independent rows, 68 % agree.
    expect(Math.abs(equal / many.length - 0.68)).toBeLessThan(0.03)
  })
})

describe("decisions", () => {
  it("are the same for the same seed and number", () => {
    expect(decisions(base, 7, "request")).toEqual(decisions(base, 7, "request"))
    expect(decisions(base, 7, "request")).not.toEqual(decisions(base, 8, "request"))
  })

  it("hit as much as the rate says, and nothing at 0", () => {
    for (const target of targets) {
      // Connections are hit by one of the ten kinds, which has its part of the rate.
      const expected = target === "connection" ? 400 : 4000
      const count = decisions(base, 3, target).filter(isHit).length
      expect(Math.abs(count - expected)).toBeLessThan(5 * Math.sqrt(expected))
      expect(decisions({ ...base, rate: 0 }, 3, target).filter(isHit)).toEqual([])
    }
  })

  it("hit everything at 1", () => {
    for (const target of targets) {
      const wanted = kinds.filter((kind) => canHit(kind, target))
      expect(decisions({ ...base, rate: 1, kinds: wanted }, 3, target).filter(isHit)).toHaveLength(many.length)
    }
  })

  it("are of every kind that can hit the target, about as often each, and of no other", () => {
    for (const target of targets) {
      const hit = decisions(base, 3, target).filter(isHit)
      const possible = kinds.filter((kind) => canHit(kind, target))
      expect([...new Set(hit.map(({ kind }) => kind))].toSorted()).toEqual(possible.toSorted())
      for (const kind of possible) {
        const count = hit.filter((decision) => decision.kind === kind).length
        expect(Math.abs(count - hit.length / possible.length)).toBeLessThan(200)
      }
    }
  })

  it("come by the weights of the kinds", () => {
    const hit = decisions({ ...base, kinds: { repeat: 3, delay: 1, cut: 0 } }, 3, "request").filter(isHit)
    const repeats = hit.filter(({ kind }) => kind === "repeat").length
    expect(new Set(hit.map(({ kind }) => kind))).toEqual(new Set(["repeat", "delay"]))
    expect(Math.abs(repeats / hit.length - 0.75)).toBeLessThan(0.05)
  })

  it("hit nothing when no kind can", () => {
    expect(decisions({ ...base, rate: 1, kinds: ["refuse"] }, 3, "request").filter(isHit)).toEqual([])
    expect(decisions({ ...base, rate: 1, kinds: [] }, 3, "request").filter(isHit)).toEqual([])
  })

  it("of what a higher rate hits, a lower one hits a part, in the same way", () => {
    const high = decisions({ ...base, rate: 0.5 }, 3, "request")
    const low = decisions({ ...base, rate: 0.1 }, 3, "request")
    low.forEach((decision, at) => {
      if (decision !== undefined) expect(decision).toEqual(high[at])
    })
  })

  it("keep to the settings", () => {
    const settings: Settings = { ...base, rate: 1, delayMs: 5, lateMs: 6, halfOpenMs: 7, refuseMs: 8, silentShare: 0 }
    const most = { delay: 5, reorder: 5, "late-repeat": 6, "half-open": 7, refuse: 8 } as const
    for (const target of targets) {
      const wanted = kinds.filter((kind) => canHit(kind, target))
      for (const decision of decisions({ ...settings, kinds: wanted }, 3, target).filter(isHit)) {
        if ("ms" in decision) {
          expect(decision.ms).toBeGreaterThanOrEqual(1)
          expect(decision.ms).toBeLessThanOrEqual(most[decision.kind])
        }
        if ("silent" in decision) expect(decision.silent).toBe(false)
      }
    }
  })

  it("are each said in words, which no two different ones share", () => {
    const words = kinds.flatMap((kind) =>
      hitsOf[kind].map((target) => {
        const settings: Settings = { ...base, rate: 1, kinds: [kind] }
        return inWords(target, decide(settings, 1, 1, target)!)
      })
    )
    expect(words.every((text) => text.length > 10 && !text.includes("undefined"))).toBe(true)
  })
})

describe("settings", () => {
  it("that are wrong are named, with what they may be", () => {
    expect(problemOf({ rate: 1.1 })).toBe("rate must be a number from 0 to 1, and is 1.1")
    expect(problemOf({ rate: Number.NaN })).toContain("rate must be")
    expect(problemOf({ delayMs: 1.5 })).toContain("delayMs must be a whole number")
    expect(problemOf({ delayMs: -1 })).toContain("delayMs must be")
    expect(problemOf({ lateMs: "5" })).toContain('lateMs must be a whole number from 0 to 2147483647, and is "5"')
    expect(problemOf({ kinds: ["repeat", "explode"] })).toContain('kinds has "explode", which is none: there are drop-')
    expect(problemOf({ kinds: { repeat: -1 } })).toBe("kinds must have weights that are numbers from 0")
    expect(problemOf({ kinds: "repeat" })).toContain("kinds must be a list")
    expect(problemOf({ upstreams: [] })).toBe("upstreams must be at least one server")
    expect(problemOf({ ratte: 1 })).toContain("ratte is no setting: there are rate, kinds")
  })

  it("hold servers by their address alone, and repeat no password", () => {
    const bad = ["", "x", "https://h", "http://u:secret@h", "http://h/path", "http://h?q", "http://h#f", "ws://h"]
    for (const url of bad) {
      const problem = problemOf({ upstreams: [url] })
      expect(problem).toContain("upstreams must be http://host:port of a server")
      expect(problem).not.toContain("secret")
    }
    for (const url of ["http://h", "http://h:1/", "http://[::1]:7077", "http://127.0.0.1:65535"]) {
      expect(problemOf({ upstreams: [url] })).toBe("none")
    }
  })

  it("that are not given stay as they are", () => {
    const changes: Record<string, unknown> = { rate: 0.5, delayMs: undefined }
    expect(change(base, changes)).toMatchObject({ success: { ...base, rate: 0.5 } })
  })
})
