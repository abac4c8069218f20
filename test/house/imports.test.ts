/** Imports point one way: the arrows of ARCHITECTURE.md, held. */
import { describe, expect, it } from "vitest"
import { type Import, importsOf, read as readText, trackedFiles } from "./sources.ts"

const sources = trackedFiles().filter((path) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path))
const imports = sources.flatMap(importsOf)

/** A room: the files that belong to it, and what they may import beside their own room. */
interface Room {
  readonly name: string
  readonly files: RegExp
  readonly may: ReadonlyArray<RegExp>
}

const effect = /^effect(\/|$)/
const protocol = /^@jobwire\/protocol$/
const server = (folder: string) => new RegExp(`^packages/server/src/${folder}`)

// The first room that matches a file is its room.
const rooms: ReadonlyArray<Room> = [
  {
    name: "protocol's suite",
    files: /^packages\/protocol\/src\/testing\//,
    may: [/^packages\/protocol\/src\//, effect, /^@effect\/vitest$/, /^vitest$/]
  },
  { name: "protocol", files: /^packages\/protocol\/src\//, may: [effect] },
  { name: "core", files: server("core/"), may: [protocol, effect] },
  { name: "machine's clock", files: server("LiveClock"), may: [effect] },
  { name: "wake", files: server("drivers/wake/"), may: [protocol, effect] },
  { name: "batch", files: server("drivers/batch/"), may: [effect] },
  { name: "columns", files: server("drivers/columns/"), may: [server("core/"), protocol, effect] },
  {
    name: "embedded engine",
    files: server("drivers/embedded/"),
    may: [server("core/"), server("drivers/wake/"), server("JobStores"), protocol, effect, /^node:crypto$/]
  },
  {
    name: "memory driver",
    files: server("drivers/memory/"),
    may: [server("core/"), server("drivers/(embedded|wake)/"), server("JobStores"), protocol, effect]
  },
  {
    name: "sqlite driver",
    files: server("drivers/sqlite/"),
    may: [
      server("core/"),
      server("drivers/(batch|columns|embedded|wake)/"),
      server("JobStores"),
      protocol,
      effect,
      /^node:/
    ]
  },
  {
    name: "postgres driver",
    files: server("drivers/postgres/"),
    may: [
      server("core/"),
      server("drivers/(batch|columns|embedded|wake)/"),
      server("(JobStores|LiveClock)"),
      protocol,
      effect,
      /^@effect\/sql-pg(\/|$)/
    ]
  },
  { name: "tenant", files: server("tenant/"), may: [server("JobStores"), protocol, effect, /^node:crypto$/] },
  {
    name: "http",
    files: server("(http/|JobStoreServer)"),
    may: [
      server("(http/|tenant/|JobStores|JobStoreServer|LiveClock)"),
      protocol,
      effect,
      /^@effect\/platform-node$/,
      /^node:/
    ]
  },
  { name: "server's effect-mq wrapper", files: server("effect-mq/"), may: [protocol, effect, /^effect-mq$/] },
  { name: "store directory", files: server("JobStores"), may: [protocol, effect] },
  { name: "server's index", files: server("index"), may: [server("")] },
  {
    name: "client for Node",
    files: /^packages\/client\/src\/node\//,
    may: [/^packages\/client\/src\//, protocol, effect, /^@effect\/platform-node$/, /^node:/]
  },
  {
    name: "client's effect-mq adapter",
    files: /^packages\/client\/src\/effect-mq\//,
    may: [/^packages\/client\/src\//, protocol, effect, /^effect-mq$/]
  },
  { name: "client", files: /^packages\/client\/src\//, may: [protocol, effect] },
  {
    name: "faults' command",
    files: /^packages\/faults\/src\/command\//,
    may: [/^packages\/faults\/src\//, effect, /^@effect\/platform-node$/, /^node:/]
  },
  { name: "faults", files: /^packages\/faults\/src\//, may: [effect, /^node:/] },
  {
    name: "command line",
    files: /^packages\/cli\/src\//,
    may: [
      /^@jobwire\/(protocol|client|client\/node|server|server\/postgres)$/,
      effect,
      /^@effect\/platform-node$/,
      /^node:/
    ]
  }
]

const roomOf = (path: string): Room | undefined => rooms.find((room) => room.files.test(path))

const isAllowed = ({ from, to }: Import): boolean => {
  const room = roomOf(from)
  if (room === undefined) return false
  return roomOf(to) === room || room.may.some((allowed) => allowed.test(to))
}

describe("imports", () => {
  it("finds sources and imports at all", () => {
    expect(sources.length).toBeGreaterThan(40)
    expect(imports.length).toBeGreaterThan(100)
  })

  it("every source belongs to a room", () => {
    expect(sources.filter((path) => roomOf(path) === undefined)).toEqual([])
  })

  it("every import is one that its room allows", () => {
    expect(imports.filter((found) => !isAllowed(found)).map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
  })

  it("the core knows no clock, no fiber and no layer", () => {
    const effectful = /import\s+(?!type)[^"]*\b(Effect|Clock|Layer|Fiber|Random)\b[^"]*"effect"/
    const offenders = sources
      .filter((path) => path.startsWith("packages/server/src/core/"))
      .filter((path) => importsOf(path).some(({ to }) => to === "effect") && effectful.test(readText(path)))
    expect(offenders).toEqual([])
  })

  it("no two sources import each other in a circle", () => {
    const graph = new Map<string, ReadonlyArray<string>>()
    for (const path of sources) {
      graph.set(
        path,
        importsOf(path)
          .filter(({ to, typesOnly }) => !typesOnly && to.startsWith("packages/"))
          .map(({ to }) => to)
      )
    }
    expect(circles(graph)).toEqual([])
  })
})

const circles = (graph: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<string> => {
  const found: Array<string> = []
  const done = new Set<string>()
  const visit = (path: string, trail: ReadonlyArray<string>): void => {
    if (trail.includes(path)) {
      found.push([...trail.slice(trail.indexOf(path)), path].join(" -> "))
      return
    }
    if (done.has(path)) return
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  return found
}
