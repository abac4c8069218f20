/** What `npm run bench` understands. */
import { describe, expect, it } from "vitest"
import { parseOptions } from "../../bench/Options.ts"

const options = (...args: ReadonlyArray<string>) => {
  const parsed = parseOptions(args)
  if (parsed === "help") throw new Error("help was not asked for")
  return parsed
}

const names = (all: ReadonlyArray<{ readonly name: string }>) => all.map(({ name }) => name)

describe("the options of the bench", () => {
  it("take everything unless told otherwise: three rounds, and one of the long workloads", () => {
    const { contenders, limits, rounds, roundsOf, workloads, write } = options()
    expect(names(contenders)).toContain("jobwire-postgres-http")
    expect(names(limits)).toEqual(["echo-websocket", "echo-http", "pgbench"])
    expect(workloads.map((workload) => roundsOf(workload))).toEqual([3, 3, 3, 3, 1, 1, 1, 1, 1])
    expect({ rounds, write }).toEqual({ rounds: 3, write: false })
  })

  it("choose by a name, or by its beginning up to a dash", () => {
    expect(names(options("--only", "pg-boss").contenders)).toEqual(["pg-boss"])
    const { contenders, limits } = options("--only", "jobwire-postgres,echo")
    expect(names(contenders)).toEqual(["jobwire-postgres-websocket", "jobwire-postgres-http"])
    expect(names(limits)).toEqual(["echo-websocket", "echo-http"])
    expect(names(options("--workload", "drain,wake").workloads)).toEqual(["drain", "wake"])
  })

  it("give the long workloads as many rounds as were asked for", () => {
    const { rounds, roundsOf, workloads } = options("--rounds", "2", "--workload", "waiting")
    expect([rounds, ...workloads.map((workload) => roundsOf(workload))]).toEqual([2, 2])
  })

  it("refuse what cannot be done, with the value and what could be", () => {
    expect(() => parseOptions(["--only", "nobody"])).toThrow(
      /nothing is called "nobody": there are jobwire-memory-websocket/
    )
    expect(() => parseOptions(["--rounds", "0"])).toThrow("--rounds must be a whole number above 0, and is 0")
    expect(() => parseOptions(["--quick", "--write"])).toThrow("its figures are not written")
    expect(() => parseOptions(["--fast"])).toThrow(/--fast[\s\S]*npm run bench/)
  })
})
