/** `jobwire migrate` on a real PostgreSQL. */
import { describe, expect, it } from "vitest"
import { emptyDatabase, sql, withParts } from "./support/databases.ts"
import { command } from "./support/inProcess.ts"
import { run, timeout } from "./support/processes.ts"

const secret = "pa55-w0rd"

const tables = (url: string, schema: string) =>
  sql(url, `select tablename from pg_tables where schemaname = '${schema}' and tablename in ('job', 'live', 'done')`)

const json = (text: string): unknown => JSON.parse(text)

describe("jobwire migrate", { timeout }, () => {
  it("looks, makes the schema and says the steps, and changes nothing when run again", async () => {
    const env = { DATABASE_URL: await emptyDatabase() }
    const before = await run(["migrate", "--check"], env)
    expect(before).toMatchObject({ code: 1, stdout: "" })
    expect(before.stderr).toMatch(
      /^jobwire: there is no Jobwire schema "jobwire" in this database, and this version of Jobwire needs version \d+: run `jobwire migrate`/
    )
    expect(await tables(env.DATABASE_URL, "jobwire")).toEqual([])

    const first = await run(["migrate"], env)
    expect(first).toMatchObject({ code: 0, stderr: "" })
    expect(first.stdout).toMatch(
      /^applied step 1: tables\n(applied step \d+: .+\n)*the schema "jobwire" has version \d+\n$/
    )
    expect(await tables(env.DATABASE_URL, "jobwire")).toHaveLength(3)

    const given = ["--database-url", env.DATABASE_URL]
    const second = await command("migrate", ...given)
    expect(second).toMatchObject({ code: 0, stderr: "" })
    expect(second.stdout).toMatch(/^the schema "jobwire" has version \d+; there was nothing to apply$/)
    const after = await command("migrate", "--check", ...given)
    expect(after).toMatchObject({ code: 0, stderr: "" })
    expect(after.stdout).toMatch(/has version \d+, as this version of Jobwire needs it$/)
  })

  it("prints JSON for programs, also where it ends with 1", async () => {
    const url = await emptyDatabase()
    const missing = await command("migrate", "--check", "--json", "--database-url", url)
    expect(missing.code).toBe(1)
    expect(json(missing.stdout)).toMatchObject({ schema: "jobwire", current: 0, needed: expect.any(Number) })
    expect(json(missing.stderr)).toMatchObject({
      error: { message: expect.stringContaining("jobwire migrate"), hint: expect.stringContaining("--database-url") }
    })
    const made = await command("migrate", "--json", "--database-url", url)
    expect(made).toMatchObject({ code: 0, stderr: "" })
    expect(json(made.stdout)).toMatchObject({
      schema: "jobwire",
      applied: [
        { version: 1, name: "tables" },
        { version: 2, name: "receipts" }
      ]
    })
  })

  it("is safe several times at once: each step is applied by one", async () => {
    const url = await emptyDatabase()
    const all = await Promise.all(
      Array.from({ length: 5 }, () => command("migrate", "--json", "--database-url", url, "--metadata-index"))
    )
    const done = all.filter(({ code }) => code === 0)
    // The index is made by one; who comes meanwhile is told to wait, which is an answer that may be tried again.
    for (const { code, stderr } of all) {
      expect([0, 3]).toContain(code)
      if (code === 3) expect(stderr).toContain("is being made by another")
    }
    expect(done.length).toBeGreaterThan(0)
    expect(await sql(url, "select count(*)::int4 as steps, max(version) as version from jobwire.migration")).toEqual([
      { steps: 2, version: 2 }
    ])
    expect(
      await sql(url, "select indisvalid from pg_index where indexrelid = 'jobwire.job_metadata'::regclass")
    ).toEqual([{ indisvalid: true }])
  })

  it("makes the index for metadata anew when an attempt was broken off", async () => {
    const url = await emptyDatabase()
    expect(await command("migrate", "--database-url", url)).toMatchObject({ code: 0 })
    // One that fails leaves an index that is good for nothing, whatever it is of.
    await sql(url, "insert into jobwire.pause (store, queue) values (0, 'one'), (0, 'two')")
    const broken = sql(url, "create unique index concurrently job_metadata on jobwire.pause (store)")
    await expect(broken).rejects.toThrow("could not create unique index")
    const { code, stdout } = await command("migrate", "--metadata-index", "--database-url", url)
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("the index for metadata is there")
    })
    const [index] = await sql(url, "select indexdef from pg_indexes where indexname = 'job_metadata'")
    expect(index?.["indexdef"]).toMatch(/USING gin/)
  })

  it("keeps to the schema that it is given, and takes no name that could not be one", async () => {
    const url = await emptyDatabase()
    const other = await command("migrate", "--database-url", url, "--schema", "Queue_2")
    expect(other).toMatchObject({ code: 0, stdout: expect.stringContaining('the schema "Queue_2" has version') })
    expect(await tables(url, "Queue_2")).toHaveLength(3)
    expect(await tables(url, "jobwire")).toEqual([])
    for (const name of ['a"; drop schema "Queue_2', "pg_queue", "9", "", "x".repeat(64)]) {
      const refused = await command("migrate", "--database-url", url, `--schema=${name}`)
      expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("cannot be the name") })
    }
    expect(await tables(url, "Queue_2")).toHaveLength(3)
  })

  it("refuses a schema that a newer version has made, and leaves it alone", async () => {
    const url = await emptyDatabase()
    await command("migrate", "--database-url", url)
    await sql(url, "insert into jobwire.migration values (99, 'later', 0)")
    for (const flags of [[], ["--check"]]) {
      const { code, stderr, stdout } = await command("migrate", ...flags, "--database-url", url)
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
      expect(stderr).toMatch(
        /has version 99, and this version of Jobwire knows up to \d+: a newer Jobwire has changed it/
      )
    }
  })

  it("says what is wrong with the command line", async () => {
    const nothing = await run(["migrate"], { DATABASE_URL: " " })
    expect(nothing).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("no database is given") })
    const both = await command("migrate", "--check", "--grant", "somebody")
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("leave out --grant") })
  })
})

describe("the URL of a database", { timeout }, () => {
  it.each([
    `mysql://me:${secret}@127.0.0.1/jobs`,
    `127.0.0.1/${secret}`,
    `postgres://me:${secret}#x@127.0.0.1/jobs`,
    `postgres://me:1${secret}/x@127.0.0.1/jobs`,
    "postgres://me:5505/w0rd@127.0.0.1/jobs",
    "postgres://me:5505?w0rd@127.0.0.1/jobs",
    "postgres://me:5505#w0rd@127.0.0.1/jobs"
  ])("is not shown when it is none: %#", async (url) => {
    const { code, stderr, stdout } = await command("migrate", "--database-url", url)
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toMatch(
      /^jobwire: --database-url is no URL of a PostgreSQL database\n {2}it looks like postgres:\/\//
    )
    expect(stderr).not.toMatch(/pa55|w0rd|5505/)
  })

  it("is shown without its password when the database cannot be reached, with the code for trying again", async () => {
    const url = `postgres://me:${secret}@127.0.0.1:1/jobs?password=${secret}`
    for (const args of [["migrate"], ["migrate", "--check", "--json"]]) {
      const { code, stderr, stdout } = await run(args, { DATABASE_URL: url })
      expect({ code, stdout }).toEqual({ code: 3, stdout: "" })
      expect(stderr).toContain("connect ECONNREFUSED 127.0.0.1:1")
      expect(stderr).toContain("the database is 127.0.0.1:1/jobs, given by DATABASE_URL")
      expect(stderr).not.toContain(secret)
      expect(stderr).not.toContain("    at ")
    }
  })

  it("may name a database that is not there, which is said", async () => {
    const url = withParts(await emptyDatabase(), { pathname: "/jobwire_cli_nowhere" })
    const { code, stderr } = await command("migrate", "--database-url", url)
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('database "jobwire_cli_nowhere" does not exist')
    })
  })
})
