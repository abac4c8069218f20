/** What no tracked file may hold. */
import { describe, expect, it } from "vitest"
import { read, trackedFiles } from "./sources.ts"

const files = trackedFiles().filter((path) => !path.startsWith("test/house/"))
const typescript = files.filter((path) => path.endsWith(".ts"))

const offenders = (paths: ReadonlyArray<string>, pattern: RegExp): ReadonlyArray<string> =>
  paths.flatMap((path) =>
    read(path)
      .split("\n")
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : []))
  )

describe("tracked files", () => {
  it("name no registry's host", () => {
    expect(offenders(files, /registry\.(npmjs|yarnpkg)|deb\.debian\.org|"resolved": "http/)).toEqual([])
  })

  it("name no path of one machine", () => {
    expect(offenders(files, /\/(home|root|Users|work)\/[a-z]/)).toEqual([])
  })

  it("skip, focus and postpone no test", () => {
    expect(offenders(typescript, /\b(it|test|describe|effect|live)\.(skip|only|todo|fails|skipIf|runIf)\b/)).toEqual([])
  })

  it("have no hole in the types", () => {
    expect(offenders(typescript, /@ts-(ignore|expect-error|nocheck)|\bas any\b|: any\b|<any>/)).toEqual([])
  })

  it("promise no later work", () => {
    expect(
      offenders(
        files.filter((path) => /\.(ts|md|sql|ya?ml|json)$/.test(path)),
        /\b(TODO|FIXME|XXX)\b/
      )
    ).toEqual([])
  })

  it("are no longer than 500 lines where they are sources", () => {
    const long = typescript
      .map((path) => ({ path, lines: read(path).split("\n").length - 1 }))
      .filter(({ lines }) => lines > 500)
    expect(long).toEqual([])
  })
})
