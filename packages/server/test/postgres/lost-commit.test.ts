/**
 * A PostgreSQL that crashes at the very commit of a transaction. Its number means nothing afterwards: what was not written out is
 * forgotten, the number too, and somebody else gets it.
 */
import { assert, describe, it } from "@effect/vitest"
import { EnqueueRequest } from "@jobwire/protocol"
import { Effect, Redacted, Result } from "effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as Cluster from "../../../../test/support/postgres/Cluster.ts"
import * as EmbeddedJobStore from "../../src/drivers/embedded/EmbeddedJobStore.ts"
import * as Connections from "../../src/drivers/postgres/Connections.ts"
import { LaneNumbers } from "../../src/drivers/postgres/LaneNumbers.ts"
import * as Migrations from "../../src/drivers/postgres/Migrations.ts"
import * as UnitStorage from "../../src/drivers/postgres/unit/UnitStorage.ts"
import { broken, once } from "./support/broken-sessions.ts"
import { query } from "./support/database.ts"

const connectionLost = new SqlError({
  reason: new ConnectionError({ cause: new Error("the line is dead"), message: "the line is dead", operation: "query" })
})

const request = EnqueueRequest.make({
  name: "a",
  queue: "queue",
  payload: 1,
  dedupe: { key: "k", ttlMs: undefined, extend: false, replace: false }
})

const newCluster = Effect.acquireRelease(
  // Nothing is written out but by commits, as in the moment before somebody else's.
  Effect.promise(() => Cluster.make({ wal_writer_delay: "10s" })),
  (cluster) => Effect.promise(() => cluster.dispose())
)

/** A crash in place of the commit of an enqueue, and so many transactions of others before anybody asks what became of it. */
const crashAtCommit = Effect.fnUntraced(function* (others: number) {
  const cluster = yield* newCluster
  const url = Redacted.make(cluster.url)
  yield* Migrations.migrate({ url })
  const connections = yield* Connections.make({ url })
  const pause = (queue: number) => query("insert into pause (store, queue) values (2, $1)", [String(queue)], url)
  const crash = Effect.gen(function* () {
    yield* Effect.promise(() => cluster.kill())
    yield* Effect.promise(() => cluster.start())
    yield* Effect.forEach(
      Array.from({ length: others }, (_, index) => index),
      pause
    )
    return yield* Effect.fail(connectionLost)
  })
  const between = once(
    (sql) => sql === "commit",
    () => crash
  )
  const sessions = { write: broken(connections.hot, between), read: connections.calm }
  const storage = yield* UnitStorage.make(sessions, { number: 1, lanes: new LaneNumbers() })
  const store = yield* EmbeddedJobStore.make(storage)
  const result = yield* Effect.result(store.enqueue(request))
  const ids = (yield* query("select id from job where store = 1", [], url)).map(([id]) => String(id))
  return { result, ids }
})

describe("a commit at which PostgreSQL crashes", () => {
  it.live("is not taken for the commit of somebody who got its number", () =>
    Effect.gen(function* () {
      const { ids, result } = yield* crashAtCommit(20)
      const reason = Result.isFailure(result) ? result.failure.reason : result.success
      assert.deepStrictEqual([reason, ids], [{ _tag: "OutcomeUnknown" }, []])
    }).pipe(Effect.scoped)
  )

  it.live("is made again when the database has not come to its number", () =>
    Effect.gen(function* () {
      const { ids, result } = yield* crashAtCommit(0)
      assert.deepStrictEqual(Result.isSuccess(result) ? [result.success.id] : result.failure, ids)
      assert.lengthOf(ids, 1)
    }).pipe(Effect.scoped)
  )

  it.live("may be in another life of the database though its postmaster lives on", () =>
    Effect.gen(function* () {
      const cluster = yield* newCluster
      const url = Redacted.make(cluster.url)
      const { hot } = yield* Connections.make({ url, schema: "public" })
      const lifeAndPid = hot.use((session) =>
        Effect.map(session.run("select pg_backend_pid()"), ([row]) => [session.life, Number(row?.[0])] as const)
      )
      const [life, pid] = yield* lifeAndPid
      yield* query("select pg_terminate_backend($1::int4)", [pid], url)
      const [same, next] = yield* Effect.eventually(lifeAndPid)
      assert.notStrictEqual(next, pid)
      assert.strictEqual(same, life)
      process.kill(next, "SIGKILL")
      const [other] = yield* Effect.eventually(lifeAndPid)
      assert.notStrictEqual(other, life)
    }).pipe(Effect.scoped)
  )
})
