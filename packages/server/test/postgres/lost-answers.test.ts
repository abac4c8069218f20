/** Statements whose answers are lost, and that cannot be made again. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ConnectionError, DeadlockError, SqlError, UnknownError } from "effect/sql/SqlError"
import { databaseUrl } from "../../../../test/support/fresh-postgres.ts"
import * as Connections from "../../src/drivers/postgres/Connections.ts"
import { repeatable } from "../../src/drivers/postgres/hot/Repeatable.ts"
import { newStore } from "./support/bare-server.ts"

const fault = (message: string, code?: string) => ({
  cause: Object.assign(new Error(message), { code }),
  message,
  operation: "query"
})

const lineDead = new SqlError({ reason: new ConnectionError(fault("the line is dead")) })
const deadlock = new SqlError({ reason: new DeadlockError(fault("deadlock detected", "40P01")) })
const noneLeft = new SqlError({ reason: new UnknownError(fault("too many connections", "53300")) })

/** The fault of a statement that ends like this the first time, when there is no connection for a second. */
const faultAfter = (first: SqlError) =>
  Effect.gen(function* () {
    const { hot } = yield* Connections.make({ url: databaseUrl() })
    let uses = 0
    const sessions: Connections.Sessions = {
      use: (work) => Effect.suspend(() => (uses++ === 0 ? hot.use(work) : Effect.fail(noneLeft)))
    }
    const statement = repeatable(sessions, (session) =>
      Effect.andThen(
        session.run("insert into pause (store, queue) values ($1, 'queue')", [newStore()]),
        Effect.fail(first)
      )
    )
    return yield* Effect.flip(statement)
  }).pipe(Effect.scoped)

describe("a statement that cannot be made again", () => {
  it.live("may have been carried out, when its answer was lost before", () =>
    Effect.gen(function* () {
      const error = yield* faultAfter(lineDead)
      assert.deepStrictEqual(error.reason, { _tag: "OutcomeUnknown" })
      assert.include(error.message, "too many connections: the call may have been carried out")
    })
  )

  it.live("was not carried out, when it was refused before", () =>
    Effect.gen(function* () {
      const error = yield* faultAfter(deadlock)
      assert.deepStrictEqual(error.reason, { _tag: "DriverFault", transient: true })
      assert.include(error.message, "nothing was written")
    })
  )
})
