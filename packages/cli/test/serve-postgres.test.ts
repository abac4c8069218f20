/** `jobwire serve` on a real PostgreSQL, as its user starts it. */
import { NodeServices } from "@effect/platform-node"
import { EnqueueRequest } from "@jobwire/protocol"
import { JobStores } from "@jobwire/server"
import { Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, inject, it } from "vitest"
import { layerStores } from "../src/serve/Stores.ts"
import * as TransactionPooler from "../../../test/support/postgres/transaction-pooler.ts"
import { emptyDatabase, sql, withParts } from "./support/databases.ts"
import { command, jobwireAt } from "./support/inProcess.ts"
import { path, run, serve, timeout } from "./support/processes.ts"

const addressOf = (url: string): string => {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

const shown = async (url: string, id: string): Promise<unknown> =>
  JSON.parse((await jobwireAt(url)("jobs", "show", id, "--json")).stdout)

describe("jobwire serve on PostgreSQL", { timeout }, () => {
  it("refuses a database without the schema, makes it when told to, and shares it with another server", async () => {
    const env = { DATABASE_URL: await emptyDatabase() }
    const refused = await run(["serve", "--port", "0"], env)
    expect(refused).toMatchObject({ code: 1, stdout: "" })
    expect(refused.stderr).toMatch(
      /^jobwire: there is no Jobwire schema "jobwire" in this database, and this version of Jobwire needs version \d+: run `jobwire migrate`.*\n.*given by DATABASE_URL\n$/
    )

    const one = await serve(["--migrate"], env)
    await one.line(new RegExp(`^jobs are kept in PostgreSQL at ${addressOf(env.DATABASE_URL)}; no tokens`))
    const two = await serve(["--hot-connections", "2", "--calm-connections", "1"], env)
    expect(await jobwireAt(one.url)("enqueue", "mail", "--id", "a", "--payload", "[1]")).toMatchObject({ code: 0 })
    const worked = await run(["work", "mail", "--until-empty", "--exec", "cat"], two.env)
    expect(worked).toMatchObject({ code: 0 })
    expect(await shown(one.url, "a")).toMatchObject({ job: { state: "completed", exit: { value: [1] } } })

    for (const server of [one, two]) {
      server.child.kill("SIGTERM")
      expect(await server.ended).toMatchObject({ code: 0, stdout: `${server.url}\n` })
    }
    const again = await serve([], env)
    expect(await shown(again.url, "a")).toMatchObject({ job: { id: "a", state: "completed" } })
  })

  it("keeps to its schema, with its index for metadata, and refuses a newer one", async () => {
    const url = await emptyDatabase()
    const given = ["--database-url", url, "--schema", "other"]
    expect(await command("migrate", "--metadata-index", ...given)).toMatchObject({ code: 0 })
    const server = await serve(given)
    await server.line(/, schema other; no tokens/)
    expect(await jobwireAt(server.url)("enqueue", "mail", "--metadata", "to=ada")).toMatchObject({ code: 0 })
    for (const [to, count] of [
      ["ada", 1],
      ["bob", 0]
    ] as const) {
      const { stdout } = await jobwireAt(server.url)("jobs", "list", "--json", "--metadata", `to=${to}`)
      expect(JSON.parse(stdout).items).toHaveLength(count)
    }
    expect(await sql(url, "select count(*)::int4 as jobs from other.job")).toEqual([{ jobs: 1 }])
    await sql(url, "insert into other.migration values (99, 'later', 0)")
    for (const flags of [[], ["--migrate"]]) {
      const refused = await command("serve", "--port", "0", ...given, ...flags)
      expect(refused).toMatchObject({ code: 1, stdout: "" })
      expect(refused.stderr).toMatch(
        /^jobwire: the schema "other" has version 99, and this version of Jobwire knows up to \d+/
      )
    }
    const unnamed = await command("serve", "--port", "0", "--database-url", url, "--schema", "pg_other")
    expect(unnamed).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be the name of the schema") })
  })

  it("takes at most one place from its flags, and a flag goes before the environment", async () => {
    const env = { DATABASE_URL: "postgres://me@127.0.0.1:1/jobs" }
    const memory = await serve(["--memory"], env)
    await memory.line(/^jobs are kept in memory/)
    const directory = await serve(["--data", path("data")], env)
    await directory.line(/^jobs are kept in .*data; no tokens/)

    const places = [["--memory"], ["--data", "x"], ["--database-url", env.DATABASE_URL]]
    for (const [one = [], other = []] of [places.slice(0, 2), places.slice(1), [places[0], places[2]]]) {
      const { code, stderr } = await command("serve", ...one, ...other)
      expect({ code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/give one of --\S+ and --\S+, not/)
      })
    }
    for (const stray of [["--schema", "x"], ["--migrate"], ["--hot-connections", "1"], ["--calm-connections", "1"]]) {
      const { code, stderr } = await command("serve", "--memory", ...stray)
      expect(code).toBe(2)
      expect(stderr).toContain(`${stray[0]} does not go with jobs in memory`)
      expect(stderr).toContain("--database-url")
    }
    const sync = await command("serve", "--database-url", env.DATABASE_URL, "--synchronous", "normal")
    expect(sync).toMatchObject({ code: 2, stderr: expect.stringContaining("synchronous_commit") })
  })

  it("says that a database cannot be reached, or has no such name, without the password", async () => {
    const secret = "pa55-w0rd"
    const unreachable = withParts("postgres://me@127.0.0.1:1/jobs", { password: secret })
    const away = await run(["serve", "--port", "0"], { DATABASE_URL: unreachable })
    expect(away).toMatchObject({ code: 3, stdout: "" })
    expect(away.stderr).toMatch(
      /^jobwire: PostgreSQL failed: connect ECONNREFUSED 127\.0\.0\.1:1.*\n.*127\.0\.0\.1:1\/jobs.*\n$/
    )
    expect(away.stderr).not.toContain(secret)
    const nowhere = withParts(inject("postgresUrl"), { pathname: "/jobwire_cli_nowhere" })
    const unknown = await command("serve", "--port", "0", "--database-url", nowhere)
    expect(unknown).toMatchObject({ code: 1, stdout: "" })
    expect(unknown.stderr).toContain('database "jobwire_cli_nowhere" does not exist')
  })

  it("refuses a pooler in transaction mode, and says what to do", async () => {
    const pooler = await TransactionPooler.start(inject("postgresUrl"))
    const { code, stderr, stdout } = await command("serve", "--port", "0", "--database-url", pooler.url)
    pooler.close()
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(
      /^jobwire: the connections to PostgreSQL do not keep their sessions.*a pooler in session mode/
    )
  })

  it("forgets finished jobs after --history-ttl, as on other stores", async () => {
    const url = await emptyDatabase()
    const database = { url: Redacted.make(url), from: "DATABASE_URL", schema: undefined } as const
    const place = { _tag: "Postgres", database, migrate: true, hotConnections: 1, calmConnections: 1 } as const
    const jobs = () => sql(url, "select count(*)::int4 as jobs from jobwire.job").then(([row]) => row?.["jobs"])
    const test = Effect.gen(function* () {
      const store = yield* Effect.flatMap(JobStores.JobStores, (stores) => stores.get(JobStores.defaultStoreId))
      for (const id of ["old", "kept"]) {
        yield* store.enqueue(EnqueueRequest.make({ name: "mail", queue: "default", id }))
      }
      yield* store.cancel("old")
      yield* TestClock.adjust("59 minutes")
      yield* Effect.promise(() => expect(jobs()).resolves.toBe(2))
      // A sweep takes the time of the database, and only then waits for the next minute: so minutes pass until it is done.
      const left = TestClock.adjust("1 minute").pipe(Effect.andThen(Effect.promise(jobs)))
      expect(yield* Effect.repeat(left, { until: (count) => count === 1, times: 300 })).toBe(1)
      yield* Effect.flatMap(store.getJob("kept"), (kept) => Effect.sync(() => expect(Option.isSome(kept)).toBe(true)))
    })
    const layer = layerStores(place, 3_600_000)
    await Effect.runPromise(test.pipe(Effect.provide(layer), Effect.provide([TestClock.layer(), NodeServices.layer])))
  })
})
