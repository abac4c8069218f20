/** What may be said on the command line. */
import { Redacted, Result } from "effect"
import { describe, expect, it } from "vitest"
import { formatDuration, parseDuration } from "../../src/flags/Duration.ts"
import { formatBackoff, parseBackoff, parseKeep } from "../../src/flags/Policy.ts"
import { asksForJson } from "../../src/flags/Switch.ts"
import { markProgram, splitProgram } from "../../src/ProgramArguments.ts"
import { parseToken } from "../../src/serve/Credentials.ts"

describe("a duration", () => {
  it.each([
    ["0", 0],
    ["500ms", 500],
    ["10s", 10_000],
    ["1.5s", 1500],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["1h30m", 5_400_000],
    ["7d", 604_800_000],
    ["1w", 604_800_000]
  ])("%s is %d ms", (text, ms) => expect(parseDuration(text)).toBe(ms))

  it.each(["5", "", "s", "-1s", "1 s", "1s ago", "1e3s", "ms5"])("%j is none", (text) => {
    expect(() => parseDuration(text)).toThrow("a number and a unit")
  })

  it.each([
    [0, "0ms"],
    [999, "999ms"],
    [1500, "1.5s"],
    [61_000, "1m1s"],
    [3_600_000, "1h"],
    [3_661_000, "1h1m"],
    [90_000_000, "1d1h"]
  ])("%d ms is shown as %s", (ms, text) => expect(formatDuration(ms)).toBe(text))
})

describe("a backoff", () => {
  it.each(["10s", "exponential:1s", "exponential:500ms:1.5"])("%s means what it says", (text) => {
    expect(formatBackoff(parseBackoff(text), formatDuration)).toBe(text)
  })

  it.each(["", "linear:1s", "exponential", "exponential:1s:x", "exponential:1s:2:3", "fixed:1s:2", "10"])(
    "%j is none",
    (text) => {
      expect(() => parseBackoff(text)).toThrow()
    }
  )
})

describe("a retention rule", () => {
  it.each([
    ["100", { count: 100, ageMs: undefined }],
    ["7d", { count: undefined, ageMs: 604_800_000 }],
    ["7d,100", { count: 100, ageMs: 604_800_000 }]
  ])("%s is understood", (text, rule) => expect(parseKeep(text)).toEqual(rule))

  it.each(["", "1,2", "1d,2d", "many"])("%j is none", (text) => {
    expect(() => parseKeep(text)).toThrow()
  })
})

const parsed = (text: string) => {
  const { token, ...rest } = Result.getOrThrow(parseToken(text))
  return { ...rest, token: Redacted.value(token) }
}

describe("a token of the server", () => {
  it("is the text itself, whatever is in it", () => {
    expect(parsed("abc==")).toEqual({ token: "abc==" })
    expect(parsed("a;b=c")).toEqual({ token: "a;b=c" })
  })

  it("or has a name, a tenant and scopes", () => {
    expect(parsed("name=ci; tenant=acme ;scopes=produce, read;token=a=b")).toEqual({
      name: "ci",
      tenant: "acme",
      scopes: ["produce", "read"],
      token: "a=b"
    })
  })

  it.each([
    ["", "is blank"],
    ["  ", "is blank"],
    ["token=", "is blank"],
    ["name=a;token= ", "is blank"],
    ["token=secret;token=secret", "has the field token twice"],
    ["token=secret;scope=read", "has a field that is none of name, tenant, scopes, token"],
    ["token=secret;scopes=reed", "has a scope that is none of produce, work, read, admin"]
  ])("%j is refused without being shown", (text, problem) => {
    expect(parseToken(text)).toEqual(Result.fail(problem))
  })
})

const parse = (...args: ReadonlyArray<string>) => {
  const marked = markProgram(args)
  // The parser takes the first mark away.
  return splitProgram(marked.filter((word, index) => !(word === "--" && index === marked.indexOf("--"))))
}

describe("a program behind --", () => {
  it("is told from the names", () => {
    expect(parse("work", "a", "b", "--", "cat", "-n", "--", "x")).toEqual({
      names: ["work", "a", "b"],
      program: ["cat", "-n", "--", "x"]
    })
  })

  it("is none for other commands", () => {
    expect(markProgram(["enqueue", "--", "-name"])).toEqual(["enqueue", "--", "-name"])
    expect(markProgram(["work", "a"])).toEqual(["work", "a"])
  })

  it("does not decide about --json", () => {
    expect(asksForJson(["work", "a", "--", "prog", "--json"])).toBe(false)
    expect(asksForJson(["jobs", "list", "--json"])).toBe(true)
  })
})
