/** The main entry runs wherever there are `fetch` and `WebSocket`: nothing that it reaches is of Node. */
import { assert, describe, it } from "@effect/vitest"
import { importsOf, read } from "../../../test/house/sources.ts"

/** Every file and package that a file reaches, through the sources of the protocol too. */
const reachable = (entry: string): ReadonlySet<string> => {
  const seen = new Set<string>()
  const visit = (target: string): void => {
    if (seen.has(target)) return
    seen.add(target)
    if (target === "@jobwire/protocol") visit("packages/protocol/src/index.ts")
    if (!target.startsWith("packages/")) return
    for (const { to, typesOnly } of importsOf(target)) if (!typesOnly) visit(to)
  }
  visit(entry)
  return seen
}

const packagesOf = (entry: string): ReadonlyArray<string> =>
  [...reachable(entry)].filter((target) => !target.startsWith("packages/"))

describe("the main entry", () => {
  it("imports effect and the protocol, and nothing else", () => {
    const packages = packagesOf("packages/client/src/index.ts")
    assert.include(packages, "effect")
    assert.deepStrictEqual(
      packages.filter((name) => name !== "@jobwire/protocol" && !/^effect(\/[a-z-]+)?$/.test(name)),
      []
    )
  })

  it("names no global that is Node's alone", () => {
    const files = [...reachable("packages/client/src/index.ts")].filter((target) =>
      target.startsWith("packages/client/")
    )
    assert.isAbove(files.length, 10)
    for (const file of files) assert.notMatch(read(file), /\b(process\.\w|(Buffer|setImmediate|require)[.(])/, file)
  })
})

describe("the entry for Node", () => {
  it("reaches the transports of the platform", () => {
    assert.include(packagesOf("packages/client/src/node/index.ts"), "@effect/platform-node")
  })

  it("exports the names of the main entry", async () => {
    const [main, node] = await Promise.all([import("@jobwire/client"), import("@jobwire/client/node")])
    assert.deepStrictEqual(Object.keys(node), Object.keys(main))
    assert.deepStrictEqual(Object.keys(node.RemoteJobStore).toSorted(), Object.keys(main.RemoteJobStore).toSorted())
  })
})
