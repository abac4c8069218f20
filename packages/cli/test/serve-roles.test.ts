/** `jobwire serve` with a role that may only serve, on a PostgreSQL that asks for passwords and may be killed. */
import { chmodSync, writeFileSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Cluster from "../../../test/support/postgres/Cluster.ts"
import { sql, withParts } from "./support/databases.ts"
import { command, jobwireAt } from "./support/inProcess.ts"
import { path, run, serve, timeout } from "./support/processes.ts"

const passwords = { owner: "0wner-pa55", serving: "s3rve-pa55" }

// Whoever is not the superuser needs a password.
const accessRules = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"

let cluster: Cluster.Cluster
const as = (username: "owner" | "serving", password = passwords[username]): string =>
  withParts(cluster.url, { username, password, pathname: "/jobs" })
const start = (url: string) => run(["serve", "--port", "0"], { DATABASE_URL: url })

beforeAll(async () => {
  writeFileSync(path("hba"), accessRules)
  // The user that PostgreSQL runs as reads it.
  chmodSync(path(), 0o755)
  cluster = await Cluster.make({ hba_file: path("hba") })
  await sql(cluster.url, `create role owner login password '${passwords.owner}'`)
  await sql(cluster.url, `create role serving login password '${passwords.serving}'`)
  await sql(cluster.url, "create database jobs owner owner")
}, timeout)
afterAll(() => cluster.dispose())

describe("a role that serves", { timeout }, () => {
  it("must be allowed to, and then works, but changes nothing of the layout", async () => {
    const migrated = await run(["migrate"], { DATABASE_URL: as("owner") })
    expect(migrated).toMatchObject({ code: 0, stderr: "" })
    const early = await start(as("serving"))
    expect(early).toMatchObject({ code: 1, stdout: "" })
    expect(early.stderr).toMatch(
      /^jobwire: PostgreSQL failed: permission denied for schema jobwire.*docs\/postgres\.md/
    )
    const byItself = await command("migrate", "--grant", "serving", "--database-url", as("serving"))
    expect(byItself).toMatchObject({ code: 1, stderr: expect.stringContaining("permission denied for schema jobwire") })

    const granted = await run(["migrate", "--grant", "serving"], { DATABASE_URL: as("owner") })
    expect(granted).toMatchObject({ code: 0, stderr: "" })
    expect(granted.stdout).toMatch(/; there was nothing to apply\nthe role "serving" may serve on it\n$/)
    const server = await serve([], { DATABASE_URL: as("serving") })
    const jobwire = jobwireAt(server.url)
    expect(await jobwire("enqueue", "mail", "--id", "a", "--dedupe", "k")).toMatchObject({ code: 0 })
    expect(await jobwire("queues", "pause", "other")).toMatchObject({ code: 0 })
    expect(await run(["work", "mail", "--until-empty", "--exec", "echo 1"], server.env)).toMatchObject({ code: 0 })
    expect(await jobwire("jobs", "remove", "a")).toMatchObject({ code: 0 })
    expect(await jobwire("counts", "--json")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"completed":0')
    })
    for (const forbidden of [
      "alter table jobwire.job add column more text",
      "drop table jobwire.live",
      "truncate jobwire.done",
      "create table jobwire.other (n int)"
    ]) {
      await expect(sql(as("serving"), forbidden)).rejects.toThrow(/permission denied|must be owner/)
    }
  })

  it("is told which right it lacks", async () => {
    await sql(cluster.url, "create role half login password 'h4lf-pa55'")
    const half = withParts(as("serving"), { username: "half", password: "h4lf-pa55" })
    const [url, role] = [as("owner"), ["--grant", "half"]]
    expect(await command("migrate", "--database-url", url, ...role)).toMatchObject({ code: 0 })
    await sql(url, "revoke delete on jobwire.done from half")
    const refused = await start(half)
    expect(refused).toMatchObject({ code: 1, stdout: "" })
    expect(refused.stderr).toMatch(
      /^jobwire: the role "half" needs delete on jobwire\.done: .*`jobwire migrate --grant half`/
    )
    // Who may use the schema but does not own it grants nothing, and is told so.
    await sql(cluster.url, "create role third")
    const byOther = await command("migrate", "--grant", "third", "--database-url", half)
    expect(byOther).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining('the role "third" needs usage on schema')
    })
    const nobody = await command("migrate", "--grant", 'no"body', "--database-url", url)
    expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('role "no"body" does not exist') })
  })

  it("is refused with a wrong password, of which nothing is shown", async () => {
    const wrong = "wr0ng-pa55"
    for (const url of [as("serving", wrong), as("serving", "")]) {
      const { code, stderr, stdout } = await start(url)
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
      expect(stderr).toMatch(/password/)
      expect(stderr).toContain("look at the user and the password in the URL")
      expect(stderr).not.toMatch(/pa55/)
    }
  })
})

describe("a database that goes away", { timeout }, () => {
  it("makes a server not ready, and ready again when it is back", async () => {
    expect(await command("migrate", "--grant", "serving", "--database-url", as("owner"))).toMatchObject({ code: 0 })
    const server = await serve([], { DATABASE_URL: as("serving") })
    const jobwire = jobwireAt(server.url)
    expect(await jobwire("enqueue", "mail", "--id", "before")).toMatchObject({ code: 0 })
    await cluster.kill()
    const away = await jobwire("enqueue", "mail", "--id", "meanwhile")
    expect(away.code).toBe(3)
    const ready = () => fetch(`${server.url}/readyz`).then(({ status }) => status)
    expect(await ready()).toBe(503)
    expect((await fetch(`${server.url}/livez`)).status).toBe(200)
    await cluster.start()
    await expect.poll(ready, { timeout: 30_000 }).toBe(200)
    expect(await jobwire("enqueue", "mail", "--id", "after")).toMatchObject({ code: 0 })
    expect(await jobwire("jobs", "show", "before")).toMatchObject({ code: 0 })
    server.child.kill("SIGTERM")
    const { code, stderr, stdout } = await server.ended
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${server.url}\n` })
    expect(stderr).toContain("the store does not answer")
    expect(stderr).not.toContain(passwords.serving)
  })
})
