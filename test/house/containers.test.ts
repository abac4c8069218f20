/** The container files, which are not run here: what of them can be checked without running them. */
import { describe, expect, it } from "vitest"
import { spawnSync } from "node:child_process"
import { compileFunction } from "node:vm"
import { read, root, trackedFiles } from "./sources.ts"

const dockerfile = read("Dockerfile")
const compose = read("docker-compose.yml")

const variables = (text: string): ReadonlyArray<string> => text.match(/\b(JOBWIRE_[A-Z_]+|DATABASE_URL)\b/g) ?? []

/** Every list of words, as JSON, that stands behind this key. */
const wordLists = (text: string, key: string): ReadonlyArray<ReadonlyArray<string>> =>
  [...text.matchAll(new RegExp(`^ *${key} (\\[.*\\])$`, "gm"))].map(([, list = ""]) => JSON.parse(list))

/** What stands, deeper, below the line with this key at this depth; empty when there is none. */
const below = (text: string, key: string, depth: number): string => {
  const lines = text.split("\n")
  const start = lines.findIndex((line) => line.startsWith(`${" ".repeat(depth)}${key}:`))
  if (start === -1) return ""
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => line.trim() !== "" && !line.startsWith(" ".repeat(depth + 1)))
  return rest.slice(0, end === -1 ? undefined : end).join("\n")
}

const keysOf = (text: string, depth: number): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(`^ {${depth}}([a-z_]+):`, "gm"))].map(([, key = ""]) => key)

const servers = below(compose, "x-server", 0)
const services = below(compose, "services", 0)

describe("the container files", () => {
  it("name no variable that the command does not read", () => {
    const sources = trackedFiles().filter((path) => path.startsWith("packages/cli/src/"))
    const known = new Set(sources.flatMap((path) => variables(read(path))))
    const named = variables(`${dockerfile}\n${compose}`)
    expect(named).toContain("DATABASE_URL")
    expect(named).toContain("JOBWIRE_TOKENS")
    expect(named.filter((name) => !known.has(name))).toEqual([])
  })

  it("start a source that is there, with commands and flags that it knows", () => {
    const [[program, condition, entry = ""] = []] = wordLists(dockerfile, "ENTRYPOINT")
    expect([program, condition]).toEqual(["node", "--conditions=jobwire:source"])
    expect(trackedFiles()).toContain(entry)
    const commands = [...wordLists(dockerfile, "CMD"), ...wordLists(compose, "command:")]
    expect(commands.map(([name]) => name)).toEqual(["serve", "serve", "migrate"])
    for (const name of new Set(commands.map(([name = ""]) => name))) {
      const { status, stdout } = spawnSync(process.execPath, [String(condition), entry, name, "--help"], {
        cwd: root,
        encoding: "utf8"
      })
      expect(status).toBe(0)
      const words = commands.filter(([first]) => first === name).flat()
      for (const flag of words.filter((word) => word.startsWith("--"))) expect(stdout).toContain(`  ${flag} `)
    }
  })

  it("ask for health by lists of words, the server by a program that compiles", () => {
    const [server = [], postgres = []] = wordLists(compose, "test:")
    expect(server.slice(0, 3)).toEqual(["CMD", "node", "-e"])
    expect(server[3]).toContain("/readyz")
    expect(() => compileFunction(server[3] ?? "")).not.toThrow()
    // Without a host it would ask by the socket, where the image answers before it listens.
    expect(postgres.slice(0, 4)).toEqual(["CMD", "pg_isready", "--host", "127.0.0.1"])
  })

  it("run two servers when PostgreSQL is healthy and the schema was made, in this order", () => {
    expect(keysOf(services, 2)).toEqual(["postgres", "migrate", "one", "two"])
    for (const name of ["one", "two"]) expect(below(services, name, 2)).toContain("<<: *server")
    const migrate = below(services, "migrate", 2)
    expect(below(migrate, "depends_on", 4)).toMatch(/^ +postgres:\n +condition: service_healthy$/)
    // One that starts again and again never counts as completed.
    expect(migrate).toContain('restart: "no"')
    expect(below(servers, "depends_on", 2)).toMatch(/migrate:\n +condition: service_completed_successfully/)
    expect(below(services, "postgres", 2)).toContain("healthcheck:")
  })

  it("lay every port on this machine only, each another one, and none of the database", () => {
    const ports = [...compose.matchAll(/^ *- "([\d.]+):(\d+):7077"$/gm)].map(([, host, port]) => `${host}:${port}`)
    expect(ports).toEqual(["127.0.0.1:7077", "127.0.0.1:7078"])
    expect(compose.match(/ports:/g)).toHaveLength(2)
  })

  it("want every secret from outside", () => {
    for (const [, name] of compose.matchAll(/\b(JOBWIRE_TOKENS|POSTGRES_PASSWORD): (?!\$\{\1:\?)/g)) {
      expect.fail(`${name} has a value in docker-compose.yml`)
    }
    expect(compose.match(/\$\{POSTGRES_PASSWORD:\?[^}]+\}/g)).toHaveLength(2)
    expect(compose.match(/\$\{JOBWIRE_TOKENS:\?[^}]+\}/g)).toHaveLength(1)
  })

  it("keep the data where the image of that version has it", () => {
    const [, major] = /image: postgres:(\d+)$/m.exec(compose) ?? []
    expect(Number(major)).toBeGreaterThanOrEqual(18)
    // Up to 17 it was one folder deeper.
    expect(below(services, "postgres", 2)).toMatch(/- postgres:\/var\/lib\/postgresql$/m)
    expect(keysOf(below(compose, "volumes", 0), 2)).toEqual(["postgres"])
  })
})
