/** The limits of parked waits: a new one over them is refused, those who wait stay, and each that leaves makes room. */
import { assert, describe, it } from "@effect/vitest"
import { JobStoreError } from "@jobwire/protocol"
import { Effect, Fiber } from "effect"
import { open } from "./support/peer.ts"
import { call, errorOf, message, start, token } from "./support/server.ts"
import { make } from "./support/stub-store.ts"

const wait = { queues: ["q"], wakeToken: "w" }

/** A store whose waits end as their token says when they are told to. */
const tellable = () => {
  const ends = new Map<string, Effect.Effect<void, JobStoreError>>()
  const resumes = new Map<string, () => void>()
  const store = make()
  const fault = new JobStoreError({ message: "a fault", reason: { _tag: "DriverFault", transient: true } })
  const awaitWake: typeof store.service.awaitWake = (queues, wakeToken) =>
    Effect.raceFirst(
      Effect.callback<void, JobStoreError>((resume) => {
        resumes.set(wakeToken, () => resume(ends.get(wakeToken) ?? Effect.void))
        return Effect.sync(() => resumes.delete(wakeToken))
      }),
      // Last, as it tells that somebody waits.
      store.service.awaitWake(queues, wakeToken)
    )
  const end = (wakeToken: string, how: Effect.Effect<void, JobStoreError> = Effect.void) =>
    Effect.sync(() => {
      ends.set(wakeToken, how)
      resumes.get(wakeToken)?.()
    })
  return { ...store, service: { ...store.service, awaitWake }, end, fault: Effect.fail(fault) }
}

interface Unavailable {
  readonly _tag: string
  readonly sent: boolean
  readonly retryAfterMs: number
}

const refusalOf = (error: unknown) => error as { readonly message: string; readonly reason: Unavailable }

const assertRefused = (error: unknown, named: string): void => {
  assert.deepInclude(error, { _tag: "JobStoreError" })
  const { message, reason } = refusalOf(error)
  assert.include(message, named)
  assert.deepInclude(reason, { _tag: "Unavailable", sent: false })
  assert.isTrue(reason.retryAfterMs >= 0 && reason.retryAfterMs <= 5000, `${reason.retryAfterMs}`)
}

describe("the limit of parked waits", () => {
  it.live("refuses a new wait on both transports, leaves the others alone, and counts each tenant by itself", () =>
    Effect.gen(function* () {
      const store = make()
      const tokens = [token("a", undefined, "acme"), token("b", undefined, "other")]
      const server = yield* start(store.service, { tokens, maxTenantWaits: 2, maxServerWaits: 3 })
      const acme = { authorization: "Bearer a" }
      const peer = yield* open(server, { headers: acme })
      peer.send(message("awaitWake", wait, 1))
      const http = yield* Effect.forkChild(call(server, "awaitWake", wait, acme), { startImmediately: true })
      yield* store.parkedIs(2)

      peer.send(message("awaitWake", wait, 2))
      assertRefused(errorOf(yield* peer.exitOf(2)), 'the tenant "acme" has reached its limit of 2 parked waits')
      assertRefused(
        errorOf(yield* call(server, "awaitWake", wait, acme)),
        'the tenant "acme" has reached its limit of 2 parked waits'
      )
      // The other calls of who is over the limit are taken as ever.
      assert.deepInclude(yield* call(server, "pausedQueues", {}, acme), { _tag: "Success" })

      const other = yield* open(server, { headers: { authorization: "Bearer b" } })
      other.send(message("awaitWake", wait, 1))
      yield* store.parkedIs(3)
      other.send(message("awaitWake", wait, 2))
      assertRefused(errorOf(yield* other.exitOf(2)), "the server has reached its limit of 3 parked waits")
      assert.strictEqual(store.parked(), 3)
      yield* Fiber.interrupt(http)
      yield* store.parkedIs(2)
    })
  )

  it.live("gives another time to try again to everybody", () =>
    Effect.gen(function* () {
      const server = yield* start(make().service, { maxTenantWaits: 0 })
      const exits = yield* Effect.all(Array.from({ length: 20 }, () => call(server, "awaitWake", wait)))
      const hints = exits.map((exit) => refusalOf(errorOf(exit)).reason.retryAfterMs)
      assert.isAbove(new Set(hints).size, 10, hints.join(" "))
    })
  )

  it.live("has a place for another one after a wait has left in whatever way", () =>
    Effect.gen(function* () {
      const store = tellable()
      const server = yield* start(store.service, { maxServerWaits: 1, hold: "500 millis" })
      const peer = yield* open(server)
      const park = (id: string) => Effect.sync(() => peer.send(message("awaitWake", { ...wait, wakeToken: id }, id)))
      const leaves: Record<string, (id: string) => Effect.Effect<unknown>> = {
        woken: (id) => Effect.andThen(store.end(id), peer.exitOf(id)),
        failed: (id) => Effect.andThen(store.end(id, store.fault), peer.exitOf(id)),
        died: (id) => Effect.andThen(store.end(id, Effect.die("a defect")), peer.exitOf(id)),
        "called off": (id) =>
          Effect.andThen(
            Effect.sync(() => peer.send({ _tag: "Interrupt", requestId: id })),
            peer.exitOf(id)
          )
      }
      for (const [id, leave] of Object.entries(leaves)) {
        yield* park(id)
        yield* store.parkedIs(1)
        yield* leave(id)
        yield* store.parkedIs(0)
      }
      const lost = yield* open(server)
      lost.send(message("awaitWake", wait, "gone"))
      yield* store.parkedIs(1)
      lost.socket.terminate()
      yield* store.parkedIs(0)

      const aborted = yield* Effect.forkChild(call(server, "awaitWake", wait), { startImmediately: true })
      yield* store.parkedIs(1)
      yield* Fiber.interrupt(aborted)
      yield* store.parkedIs(0)

      assert.deepInclude(yield* call(server, "awaitWake", wait), { _tag: "Success" })
      yield* park("last")
      yield* store.parkedIs(1)
      assertRefused(
        errorOf(yield* call(server, "awaitWake", wait)),
        "the server has reached its limit of 1 parked waits"
      )
    })
  )
})
