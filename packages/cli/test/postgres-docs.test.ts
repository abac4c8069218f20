/** docs/postgres.md says what to run on the database: here it is run, as it stands there. */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { EnqueueRequest, JobStore } from "@jobwire/protocol"
import { PostgresJobStore } from "@jobwire/server/postgres"
import { Effect, Redacted } from "effect"
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

const request = (id: string, queue: string, delayMs = 0) => EnqueueRequest.make({ id, name: "mail", queue, delayMs })

/** A night's worth of trouble: a job in every state that the queries look for. */
const trouble = Effect.gen(function* () {
  const store = yield* JobStore.JobStore
  const take = (queue: string, token: string, lockDurationMs: number) =>
    store.claim({ queue, names: ["mail"], token, lockDurationMs })
  yield* store.enqueue(request("held", "busy"))
  yield* take("busy", "the holder", 60_000)
  yield* store.enqueue(request("lost", "busy"))
  yield* take("busy", "the lost", 1)
  yield* store.enqueue(request("first", "busy"))
  yield* store.enqueue(request("second", "busy"))
  yield* store.enqueue(request("due", "late", 1))
  yield* store.enqueue(request("broken", "bad"))
  yield* take("bad", "t", 60_000)
  yield* store.ack("broken", "t", { _tag: "Fail", exit: undefined })
  yield* store.enqueue(request("parent", "flows"))
  yield* take("flows", "p", 60_000)
  const children = [{ childKey: "c", storeKey: "default", request: request("child", "flows") }]
  yield* store.ack("parent", "p", { _tag: "FanOut", failFast: false, children })
  yield* store.pause("late")
})

/** Runs the test while a transaction of this name is open that has seen the database. */
const duringTransaction = (url: string, applicationName: string, test: () => Promise<void>): Promise<void> =>
  PgConnection.make({ url: Redacted.make(url), applicationName }).pipe(
    Effect.tap((connection) => connection.query("begin isolation level repeatable read")),
    Effect.tap((connection) => connection.query("select 1")),
    Effect.andThen(Effect.promise(test)),
    Effect.scoped,
    Effect.runPromise
  )

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

  it("finds whoever holds back vacuum", async () => {
    const [query = ""] = statementsUnder("Old transactions, and vacuum")
    await duringTransaction(as("jobwire_serve"), "forgotten", async () => {
      const [first] = await sql(as("postgres"), query)
      expect(first).toMatchObject({
        holder: expect.stringMatching(/^client backend \d+ jobwire_serve forgotten idle in transaction select 1$/),
        transactions_behind: expect.any(Number)
      })
    })
    for (const { holder } of await sql(as("postgres"), query)) expect(holder).not.toContain("forgotten")
  })

  it("has queries for the night that show what they say, and only read", async () => {
    const url = as("jobwire_serve")
    const readOnly = new URL(url)
    readOnly.searchParams.set("options", "-c default_transaction_read_only=on")
    await expect(sql(readOnly.href, "delete from jobwire.job")).rejects.toThrow("read-only")
    const queries = statementsUnder("At three in the morning")
    const ask = Effect.forEach(queries, (query) => Effect.promise(() => sql(readOnly.href, query)))
    const layer = PostgresJobStore.layer({ url: Redacted.make(url) })
    const answers = await Effect.runPromise(Effect.provide(Effect.andThen(trouble, ask), layer))
    const [biggest, oldest, ranOut, held, due, parents, failures, servers, tables] = answers
    expect(answers).toHaveLength(9)
    expect(biggest?.[0]).toMatchObject({
      tenant: "default",
      store: "default",
      queue: "busy",
      waiting: "2",
      active: "2"
    })
    expect(biggest?.find(({ queue }) => queue === "late")).toMatchObject({ delayed: "1", paused: true })
    expect(oldest).toMatchObject([{ queue: "busy", name: "mail", priority: 0, id: "first" }])
    expect(ranOut).toMatchObject([{ queue: "busy", id: "lost", token: "the lost", stalled_count: 0 }])
    expect(held).toMatchObject([
      { token: "the holder", jobs: 1n, one_of_them: "held" },
      { token: "the lost", one_of_them: "lost" }
    ])
    expect(due).toMatchObject([{ queue: "late", due: 1n }])
    expect(parents).toMatchObject([{ parent: "parent", pending: 1n, one_child: "child" }])
    expect(failures).toMatchObject([{ queue: "bad", id: "broken", attempts_made: 1 }])
    expect(servers?.[0]).toMatchObject({ usename: "jobwire_serve", state: "idle" })
    expect(tables?.map(({ table }) => table)).toContain("tally_change")
  })
})
