/** The health checks. */
import { assert, describe, it } from "@effect/vitest"
import { JobStoreError } from "@jobwire/protocol"
import { Effect } from "effect"
import { type RunningServer, start } from "./support/server.ts"
import { make } from "./support/stub-store.ts"

const get = (server: RunningServer, path: string) => Effect.promise(() => fetch(`${server.url}${path}`))

const broken = new JobStoreError({ message: "no database", reason: { _tag: "DriverFault", transient: true } })

describe("the health checks", () => {
  it.live("say that the server lives and is ready", () =>
    Effect.gen(function* () {
      const server = yield* start(make().service)
      for (const path of ["/livez", "/readyz"]) assert.strictEqual((yield* get(server, path)).status, 200)
    })
  )

  it.live("say that it lives and is not ready when the store fails, dies or says nothing", () =>
    Effect.gen(function* () {
      for (const answer of [Effect.fail(broken), Effect.die("gone"), Effect.never]) {
        const server = yield* start(make({ pausedQueues: () => answer }).service)
        const [livez, readyz] = yield* Effect.all([get(server, "/livez"), get(server, "/readyz")])
        assert.strictEqual(livez.status, 200)
        assert.strictEqual(readyz.status, 503)
        assert.isNotNull(readyz.headers.get("retry-after"))
        assert.strictEqual(readyz.headers.get("content-type"), "application/problem+json")
      }
    })
  )

  it.live("ask the store at most once a second, however many ask", () =>
    Effect.gen(function* () {
      let asked = 0
      const store = make({ pausedQueues: () => Effect.sync(() => (asked++, [])) })
      const server = yield* start(store.service)
      yield* Effect.all(
        Array.from({ length: 20 }, () => get(server, "/readyz")),
        { concurrency: "unbounded" }
      )
      assert.isAtMost(asked, 2)
    })
  )
})
