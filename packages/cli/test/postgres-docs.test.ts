/** docs/postgres.md says what to run on the database: here it is run, as it stands there. */
import { readFileSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Cluster from "../../../test/support/postgres/Cluster.ts"
import { sql, withParts } from "./support/databases.ts"
import { command } from "./support/inProcess.ts"
import { timeout } from "./support/processes.ts"

const page = readFileSync(new URL("../../../docs/postgres.md", import.meta.url), "utf8")

/** The statements of the SQL under this heading, in order. */
const statementsUnder = (heading: string): ReadonlyArray<string> => {
  const [, section = ""] = page.split(new RegExp(`^## ${heading}$`, "m"))
  const [text = ""] = section.split(/^## /m)
  return [...text.matchAll(/^```sql\n([^]*?)^```$/gm)].flatMap(([, block = ""]) =>
    block.split(/;$/m).flatMap((statement) => (statement.trim() === "" ? [] : [statement.trim()]))
  )
}

describe("docs/postgres.md", { timeout }, () => {
  let cluster: Cluster.Cluster
  const as = (username: string) => withParts(cluster.url, { username, pathname: "/jobs" })
  beforeAll(async () => {
    cluster = await Cluster.make()
  }, timeout)
  afterAll(() => cluster.dispose())

  it("has statements that make two roles, one of which may serve and change nothing of the layout", async () => {
    const statements = statementsUnder("Two roles")
    const making = statements.filter((statement) => statement.startsWith("create"))
    const granting = statements.filter((statement) => !statement.startsWith("create"))
    expect([making.length, granting.length]).toEqual([3, 5])
    for (const statement of making) await sql(cluster.url, statement)
    expect(await command("migrate", "--database-url", as("jobwire_owner"))).toMatchObject({ code: 0 })
    const early = await command("migrate", "--check", "--database-url", as("jobwire_serve"))
    expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining("permission denied for schema jobwire") })
    for (const statement of granting) await sql(as("jobwire_owner"), statement)
    expect(await command("migrate", "--check", "--database-url", as("jobwire_serve"))).toMatchObject({ code: 0 })
    for (const forbidden of [
      "alter table jobwire.job add column more text",
      "drop table jobwire.live",
      "truncate jobwire.done",
      "create index on jobwire.job (id)",
      "create table jobwire.other (n int)",
      "create schema other",
      "drop schema jobwire cascade"
    ]) {
      await expect(sql(as("jobwire_serve"), forbidden)).rejects.toThrow(/permission denied|must be owner/)
    }
    await sql(as("jobwire_owner"), "create table jobwire.later (n int)")
    await sql(as("jobwire_owner"), "create sequence jobwire.later_number")
    expect(
      await sql(as("jobwire_serve"), "insert into jobwire.later select nextval('jobwire.later_number') returning n")
    ).toEqual([{ n: 1 }])
  })
})
