/** The bench is a package of its own: the product is whole without it, and checked without what it is compared with. */
import { builtinModules } from "node:module"
import { describe, expect, it } from "vitest"
import { importsOf, read, trackedFiles } from "./sources.ts"

const typescript = trackedFiles().filter((path) => path.endsWith(".ts"))
const inBench = typescript.filter((path) => path.startsWith("bench/"))
const inPeers = inBench.filter((path) => path.startsWith("bench/peers/"))

const manifestOf = (path: string): { readonly workspaces?: ReadonlyArray<string>; readonly [key: string]: unknown } =>
  JSON.parse(read(path))

const dependenciesOf = (path: string): ReadonlyArray<string> => {
  const { dependencies = {}, devDependencies = {} } = manifestOf(path)
  return [dependencies, devDependencies].flatMap((group) => Object.keys(group ?? {}))
}

/** The package that a specifier names; none for a file, or for what Node brings. */
const packageOf = (specifier: string): string | undefined => {
  if (specifier.startsWith("node:") || builtinModules.includes(specifier)) return undefined
  if (/^(bench|packages|test)\//.test(specifier)) return undefined
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")
}

const packagesOf = (path: string): ReadonlyArray<string> =>
  importsOf(path).flatMap(({ to }) => {
    const name = packageOf(to)
    return name === undefined ? [] : [name]
  })

const ofRoot = new Set([...dependenciesOf("package.json"), "@jobwire/protocol", "@jobwire/server", "@jobwire/client"])

describe("the bench", () => {
  it("is no workspace of the product", () => {
    expect(manifestOf("package.json").workspaces).not.toEqual([])
    expect(manifestOf("package.json").workspaces?.filter((folder) => folder.startsWith("bench"))).toEqual([])
  })

  it("is imported by nothing outside but its tests", () => {
    const outside = typescript.filter((path) => !/^(test\/)?bench\//.test(path)).flatMap(importsOf)
    expect(outside.length).toBeGreaterThan(100)
    expect(outside.filter(({ to }) => to.startsWith("bench/"))).toEqual([])
  })

  it("has what only its own packages bring in one room, and imports that room nowhere else", () => {
    expect(inPeers.length).toBeGreaterThan(5)
    const others = inBench.filter((path) => !inPeers.includes(path))
    expect(others.flatMap((path) => packagesOf(path).filter((name) => !ofRoot.has(name)))).toEqual([])
    expect(others.flatMap(importsOf).filter(({ to }) => to.startsWith("bench/peers/"))).toEqual([])
  })

  it("names in its manifests what its peers import", () => {
    const { workspaces = [] } = manifestOf("bench/package.json")
    const manifests = ["bench/package.json", ...workspaces.map((folder) => `bench/${folder}/package.json`)]
    const named = new Set(manifests.flatMap(dependenciesOf))
    const wanted = [...new Set(inPeers.flatMap(packagesOf))]
    expect(wanted).toContain("pg-boss")
    expect(wanted.filter((name) => !named.has(name))).toEqual([])
  })

  it("has its room of peers left out where the repository's types are checked", () => {
    const { exclude = [] } = JSON.parse(read("tsconfig.json"))
    expect(exclude).toEqual(expect.arrayContaining(["bench/node_modules", "bench/peers"]))
  })
})
