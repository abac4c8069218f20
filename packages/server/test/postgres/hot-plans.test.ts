/** The plans of statements stay the same while tables grow from nothing, since they are made once and kept. */
import { assert, it } from "@effect/vitest"
import { EnqueueRequest } from "@jobwire/protocol"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Connections from "../../src/drivers/postgres/Connections.ts"
import * as AckStatement from "../../src/drivers/postgres/hot/AckStatement.ts"
import * as ClaimStatement from "../../src/drivers/postgres/hot/ClaimStatement.ts"
import * as EnqueueStatement from "../../src/drivers/postgres/hot/EnqueueStatement.ts"
import * as ExtendStatement from "../../src/drivers/postgres/hot/ExtendStatement.ts"
import * as PromoteStatement from "../../src/drivers/postgres/hot/PromoteStatement.ts"
import * as QueueCheck from "../../src/drivers/postgres/hot/QueueCheck.ts"
import { ownDatabase } from "./support/database.ts"
import { makeFleet } from "./support/races.ts"

const kinds = [true, false].flatMap((isStraight) =>
  [true, false].map((hasMany) => ({ isStraight, hasMany, checksTokens: true }))
)

const statements: ReadonlyArray<readonly [name: string, sql: string]> = [
  ["enqueue of own ids", EnqueueStatement.sqlOfOwn],
  ["enqueue of any ids", EnqueueStatement.sqlOfAny],
  ["ack", AckStatement.sql],
  ["extend", ExtendStatement.sql],
  ["promote", PromoteStatement.sql],
  ["check", QueueCheck.sql],
  ["check of what is free", QueueCheck.sqlOfFree],
  ...kinds.map((kind) => [`claim ${JSON.stringify(kind)}`, ClaimStatement.sqlFor(kind)] as const)
]

/** The types of the parameters, as their casts have them; of one that a statement does not use, any. */
const typesOf = (sql: string): ReadonlyArray<string> => {
  const types = new Map(
    Array.from(sql.matchAll(/\$(\d+)::(\w+(\[\])?)/g), ([, number, type]) => [Number(number), type])
  )
  return Array.from({ length: Math.max(...types.keys()) }, (_, index) => types.get(index + 1) ?? "int4")
}

/** The lines of the generic plan. */
const explain = (session: Connections.Session, sql: string): Effect.Effect<ReadonlyArray<string>, SqlError> =>
  Effect.gen(function* () {
    const types = typesOf(sql)
    yield* session.run(`prepare explained (${types.join(", ")}) as ${sql}`)
    const rows = yield* session.run(`explain (costs off) execute explained (${types.map(() => "null").join(", ")})`)
    yield* session.run("deallocate explained")
    return rows.map(([line]) => String(line))
  })

/** How the plan comes to the rows of tables: which index, and by which condition. Aliases have numbers of their own in each plan. */
const ways = (plan: ReadonlyArray<string>): ReadonlyArray<string> => {
  const lines = plan.map((line) =>
    line
      .trim()
      .replace(/^->\s+/, "")
      .replaceAll(/(?<=\b[a-z])_\d+\b/g, "")
  )
  const all = lines.flatMap((line, index) => {
    if (!/Scan|Join/.test(line) || /^(CTE Scan|Function Scan|Subquery Scan|Tid Scan|Nested Loop)/.test(line)) return []
    const next = lines[index + 1] ?? ""
    return [next.startsWith("Index Cond") ? `${line} ${next}` : line]
  })
  // In which order conditions are looked at means nothing.
  return all.toSorted()
}

it.live(
  "statements come to rows by an index that leads to them, whether their tables are empty, small or big",
  () =>
    Effect.gen(function* () {
      const url = yield* ownDatabase
      const { calm, hot } = yield* Connections.make({ url })
      const allWays = Effect.forEach(statements, ([name, sql]) =>
        Effect.map(
          hot.use((session) => explain(session, sql)),
          (plan) => [name, ways(plan)] as const
        )
      )
      const run = (sql: string) => calm.use((session) => session.run(sql))
      const ofNothing = yield* allWays
      for (const [name, scans] of ofNothing) {
        for (const scan of scans)
          assert.match(scan, /^Index (Only )?Scan using \w+ on \w+ \w Index Cond: \(\(store = .* AND /, name)
      }
      yield* run("vacuum analyze")
      assert.deepStrictEqual(yield* allWays, ofNothing)

      const { server } = yield* makeFleet(1, { url })
      const put = (count: number) =>
        server(0).enqueueMany(
          Array.from({ length: count }, (_, n) =>
            EnqueueRequest.make({ name: `n${n % 7}`, queue: `q${n % 50}`, payload: n, delayMs: n % 3 === 0 ? 1e6 : 0 })
          )
        )
      yield* put(3)
      yield* run("analyze")
      assert.deepStrictEqual(yield* allWays, ofNothing)
      yield* put(5000)
      yield* run("analyze")
      assert.deepStrictEqual(yield* allWays, ofNothing)
    }).pipe(Effect.scoped),
  60_000
)
