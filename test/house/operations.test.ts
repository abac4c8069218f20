/** Every operation is there exactly once: in the table, the service, the procedures, the suite and the documents. */
import { JobStoreRpcs, operationNames } from "@jobwire/protocol"
import { describe, expect, it } from "vitest"
import { read, trackedFiles } from "./sources.ts"

const names = operationNames.toSorted()

describe("the 34 operations: effect-mq's 32, and two that do many at once", () => {
  it("are 34", () => {
    expect(names).toHaveLength(34)
  })

  it("are the methods of the service", () => {
    const declared = read("packages/protocol/src/JobStore.ts").matchAll(/^ {2}readonly (\w+): \(/gm)
    expect(Array.from(declared, ([, name]) => name).toSorted()).toEqual(names)
  })

  it("are the procedures of the group", () => {
    expect([...JobStoreRpcs.requests.keys()].toSorted()).toEqual(names)
  })

  it("are each used by the suite", () => {
    const suite = trackedFiles()
      .filter((path) => path.startsWith("packages/protocol/src/testing/"))
      .map(read)
      .join("\n")
    expect(names.filter((name) => !suite.includes(`store.${name}(`))).toEqual([])
  })

  it("have one heading each in the protocol's document", () => {
    const headings = Array.from(read("docs/protocol.md").matchAll(/^#{2,4} `?(\w+)`?(?:\(.*)?$/gm), ([, name]) => name)
    const found = headings.filter((heading) => names.some((name) => name === heading))
    expect(found.toSorted()).toEqual(names)
  })

  it("are named by no handler by hand: the server and the client make theirs from the table", () => {
    const transports = trackedFiles().filter((path) =>
      /^packages\/(server\/src\/(http\/|JobStoreServer)|client\/src\/(?!effect-mq)).*\.ts$/.test(path)
    )
    expect(transports.length).toBeGreaterThan(5)
    const special = new Set(["ack", "ackMany", "awaitWake", "claim", "claimMany", "enqueueMany"])
    const byHand = transports.flatMap((path) =>
      names
        .filter((name) => !special.has(name))
        .filter((name) => read(path).includes(`"${name}"`))
        .map((name) => `${path} names ${name}`)
    )
    expect(byHand).toEqual([])
  })
})
