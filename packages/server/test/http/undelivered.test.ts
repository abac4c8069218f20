/** Claims whose answer reaches nobody. */
import { assert, describe, it } from "@effect/vitest"
import { EnqueueRequest, JobStore, JobStoreError } from "@jobwire/protocol"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Queue } from "effect"
import { defaultStoreId, JobStores } from "../../src/JobStores.ts"
import * as MemoryJobStore from "../../src/drivers/memory/MemoryJobStore.ts"
import { CurrentDelivery, Delivery } from "../../src/http/Delivery.ts"
import * as Undelivered from "../../src/http/Undelivered.ts"
import { open } from "./support/peer.ts"
import { call, message, post, type RunningServer, start } from "./support/server.ts"
import { make as makeStub } from "./support/stub-store.ts"

const transports = ["websocket", "http"] as const
type Transport = (typeof transports)[number]

const names = ["job"]
const claim = (token: string) => ({ options: { queue: "q", names, token, lockDurationMs: 60_000 } })
const claimMany = (tokens: ReadonlyArray<string>) => ({
  options: { queue: "q", names, tokens, lockDurationMs: 60_000 }
})

/** A store in memory with jobs in line. Its first claims are made, and then held back until the gate opens. */
const makeStore = Effect.fnUntraced(function* (jobs: ReadonlyArray<string>, heldBack = 1) {
  const real = Context.get(yield* Layer.build(MemoryJobStore.layer), JobStore.JobStore)
  for (const id of jobs) yield* real.enqueue(EnqueueRequest.make({ id, name: "job", queue: "q" }))
  const gate = yield* Deferred.make<void>()
  const claimed = yield* Queue.unbounded<void>()
  const released = yield* Queue.unbounded<string>()
  let left = heldBack
  const held = <A, E>(claim: Effect.Effect<A, E>) =>
    Effect.tap(claim, () =>
      left-- > 0 ? Effect.andThen(Queue.offer(claimed, undefined), Deferred.await(gate)) : Effect.void
    )
  const waits = makeStub()
  const service: JobStore.Service = {
    ...real,
    awaitWake: waits.service.awaitWake,
    claim: (options) => held(real.claim(options)),
    claimMany: (options) => held(real.claimMany(options)),
    release: (id, token) => Effect.tap(real.release(id, token), () => Queue.offer(released, id))
  }
  return {
    real,
    service,
    parkedIs: waits.parkedIs,
    holdBack: (count: number) => (left = count),
    openGate: Deferred.succeed(gate, undefined),
    claimed,
    released
  }
})

interface Store extends Effect.Success<ReturnType<typeof makeStore>> {}

/** A caller that makes a call and waits for something; goes away when it is told to, which the server has seen then. */
const caller = Effect.fnUntraced(function* (
  transport: Transport,
  { server, store }: { readonly server: RunningServer; readonly store: Store },
  operation: string,
  payload: unknown
) {
  const messages = [
    message(operation, payload, "claim"),
    message("awaitWake", { queues: ["q"], wakeToken: "w" }, "wait")
  ]
  if (transport === "http") {
    const fiber = yield* Effect.forkChild(post(server, messages), { startImmediately: true })
    yield* store.parkedIs(1)
    return { leave: Effect.andThen(Fiber.interrupt(fiber), store.parkedIs(0)) }
  }
  const peer = yield* open(server)
  peer.send(...messages)
  yield* store.parkedIs(1)
  return {
    leave: Effect.andThen(
      Effect.sync(() => peer.socket.terminate()),
      store.parkedIs(0)
    )
  }
})

const serve = Effect.fnUntraced(function* (jobs: ReadonlyArray<string>, heldBack?: number) {
  const store = yield* makeStore(jobs, heldBack)
  return { store, server: yield* start(store.service) }
})

const holderIs = Effect.fnUntraced(function* ({ real }: Store, id: string, token: string) {
  const { lost } = yield* real.extendLocks([{ id, token }], 60_000)
  return lost.length === 0
})

describe.each(transports)("a claim by %s whose caller has gone", (transport) => {
  it.live("gives its job back at once, with its place in line and without an attempt spent", () =>
    Effect.gen(function* () {
      const running = yield* serve(["first", "second"])
      const { real, claimed, openGate, released } = running.store
      const { leave } = yield* caller(transport, running, "claim", claim("t"))
      yield* Queue.take(claimed)
      yield* leave
      yield* openGate
      assert.strictEqual(yield* Queue.take(released), "first")
      assert.deepInclude(Option.getOrThrow(yield* real.getJob("first")), {
        state: "waiting",
        attemptsMade: 0,
        stalledCount: 0
      })
      assert.deepStrictEqual(yield* real.getAttempts("first"), [])
      const next = yield* call(running.server, "claim", claim("u"))
      assert.nestedPropertyVal(next, "value.job.id", "first")
    })
  )

  it.live("for many gives all of them back, and they keep their order", () =>
    Effect.gen(function* () {
      const running = yield* serve(["a", "b", "c", "d"])
      const { real, claimed, openGate, released } = running.store
      const { leave } = yield* caller(transport, running, "claimMany", claimMany(["t", "u", "v"]))
      yield* Queue.take(claimed)
      yield* leave
      yield* openGate
      yield* Queue.takeN(released, 3)
      const { jobs } = yield* real.claimMany(claimMany(["1", "2", "3", "4"]).options)
      assert.deepStrictEqual(
        jobs.map(({ job }) => job.id),
        ["a", "b", "c", "d"]
      )
    })
  )

  it.live("keeps the job of a repeat that came by another connection before the loss was seen", () =>
    Effect.gen(function* () {
      const running = yield* serve(["first", "second"])
      const { real, claimed, openGate, released } = running.store
      const { leave } = yield* caller(transport, running, "claim", claim("t"))
      yield* Queue.take(claimed)
      const again = yield* call(running.server, "claim", claim("t"))
      assert.nestedPropertyVal(again, "value.job.id", "first")
      yield* leave
      yield* openGate
      // What the first call leaves to do is begun before the server answers another one.
      const other = yield* call(running.server, "claim", claim("u"))
      assert.nestedPropertyVal(other, "value.job.id", "second")
      assert.strictEqual(yield* Queue.size(released), 0)
      assert.isTrue(yield* holderIs(running.store, "first", "t"))
      yield* real.ack("first", "t", { _tag: "Complete", exit: undefined })
    })
  )

  it.live("gives its job back once when the repeat reached nobody either", () =>
    Effect.gen(function* () {
      const running = yield* serve(["first", "second"], 2)
      const { real, claimed, openGate, released } = running.store
      const one = yield* caller(transport, running, "claim", claim("t"))
      yield* Queue.take(claimed)
      yield* one.leave
      const two = yield* caller(transport, running, "claim", claim("t"))
      yield* Queue.take(claimed)
      yield* two.leave
      yield* openGate
      assert.strictEqual(yield* Queue.take(released), "first")
      assert.deepInclude(yield* real.counts("q"), { waiting: 2, active: 0 })
    })
  )

  it.live("leaves alone what an earlier claim of its token was given", () =>
    Effect.gen(function* () {
      const running = yield* serve(["first", "second"], 0)
      const { claimed, holdBack, openGate, released } = running.store
      yield* call(running.server, "claim", claim("t"))
      holdBack(1)
      const { leave } = yield* caller(transport, running, "claimMany", claimMany(["t", "u"]))
      yield* Queue.take(claimed)
      yield* leave
      yield* openGate
      assert.strictEqual(yield* Queue.take(released), "second")
      assert.isTrue(yield* holderIs(running.store, "first", "t"))
    })
  )
})

it.live("a claim that is called off on its socket gives its job back, and the socket goes on", () =>
  Effect.gen(function* () {
    const { server, store } = yield* serve(["first"])
    const peer = yield* open(server)
    peer.send(message("claim", claim("t"), "claim"))
    yield* Queue.take(store.claimed)
    peer.send({ _tag: "Interrupt", requestId: "claim" }, message("pausedQueues", {}, "behind"))
    yield* peer.exitOf("behind")
    yield* store.openGate
    assert.deepInclude(yield* peer.exitOf("claim"), { _tag: "Failure" })
    assert.strictEqual(yield* Queue.take(store.released), "first")
  })
)

it.live("a lease is renewed by any connection: one claims and is cut, another extends and acks", () =>
  Effect.gen(function* () {
    const { server, store } = yield* serve(["first"], 0)
    const one = yield* open(server)
    one.send(message("claim", claim("t")), message("awaitWake", { queues: ["q"], wakeToken: "w" }, "wait"))
    assert.nestedPropertyVal(yield* one.exitOf(1), "value.job.id", "first")
    yield* store.parkedIs(1)
    one.socket.terminate()
    yield* store.parkedIs(0)
    const two = yield* open(server)
    two.send(message("extendLocks", { locks: [{ id: "first", token: "t" }], durationMs: 90_000 }))
    assert.deepStrictEqual(yield* two.exitOf(1), { _tag: "Success", value: { lost: [], cancelRequested: [] } })
    const http = yield* call(server, "extendLocks", { locks: [{ id: "first", token: "t" }], durationMs: 90_000 })
    assert.deepStrictEqual(http, { _tag: "Success", value: { lost: [], cancelRequested: [] } })
    two.send(message("ack", { id: "first", token: "t", outcome: { _tag: "Complete" } }, 2))
    assert.deepInclude(yield* two.exitOf(2), { _tag: "Success" })
    assert.strictEqual(yield* Queue.size(store.released), 0)
  })
)

it.live(
  "a claim that ends after its server has stopped waiting for it gives its job back before the server is gone",
  () =>
    Effect.gen(function* () {
      const store = yield* makeStore(["first"])
      const server = yield* start(store.service, { grace: "20 millis" })
      const peer = yield* open(server)
      peer.send(message("claim", claim("t")))
      yield* Queue.take(store.claimed)
      const stopped = yield* Effect.forkChild(server.stop, { startImmediately: true })
      yield* peer.closed
      yield* store.openGate
      yield* Fiber.join(stopped)
      assert.deepInclude(yield* store.real.counts("q"), { waiting: 1, active: 0 })
    })
)

/** The store behind the rule alone, without a network. */
const behindTheRule = Effect.fnUntraced(function* (service: JobStore.Service) {
  const stores = Layer.succeed(JobStores, { get: () => Effect.succeed(service) })
  const context = yield* Layer.build(Layer.provide(Undelivered.layer, stores))
  return yield* Context.get(context, JobStores).get(defaultStoreId)
})

describe("the rule", () => {
  it.effect("takes no job for a caller who is gone before", () =>
    Effect.gen(function* () {
      let claims = 0
      const { service } = makeStub({ claim: () => Effect.sync(() => claims++).pipe(Effect.andThen(Effect.interrupt)) })
      const store = yield* behindTheRule(service)
      const delivery = new Delivery()
      delivery.end(false)
      const exit = yield* Effect.exit(Effect.provideService(store.claim(claim("t").options), CurrentDelivery, delivery))
      assert.isTrue(Exit.hasInterrupts(exit))
      assert.strictEqual(claims, 0)
    })
  )

  it.effect("has a repeat wait until the job is given back, and claim afresh then", () =>
    Effect.gen(function* () {
      const { real, service } = yield* makeStore(["first"], 0)
      const mayRelease = yield* Deferred.make<void>()
      const store = yield* behindTheRule({
        ...service,
        release: (id, token) => Effect.andThen(Deferred.await(mayRelease), service.release(id, token))
      })
      const lost = new Delivery()
      yield* Effect.provideService(store.claim(claim("t").options), CurrentDelivery, lost)
      lost.end(false)
      const repeat = yield* Effect.forkChild(
        Effect.provideService(store.claim(claim("t").options), CurrentDelivery, new Delivery()),
        { startImmediately: true }
      )
      assert.isUndefined(repeat.pollUnsafe())
      yield* Deferred.succeed(mayRelease, undefined)
      assert.deepInclude(yield* Fiber.join(repeat), { _tag: "Claimed" })
      assert.deepInclude(yield* real.counts("q"), { active: 1 })
    })
  )

  it.live("tries again while the store is away", () =>
    Effect.gen(function* () {
      const { released, service } = yield* makeStore(["first"], 0)
      let failures = 0
      const away = new JobStoreError({
        message: "the database is away",
        reason: { _tag: "Unavailable", url: undefined, sent: false }
      })
      const store = yield* behindTheRule({
        ...service,
        release: (id, token) => (failures++ < 2 ? Effect.fail(away) : service.release(id, token))
      })
      const lost = new Delivery()
      yield* Effect.provideService(store.claim(claim("t").options), CurrentDelivery, lost)
      lost.end(false)
      assert.strictEqual(yield* Queue.take(released), "first")
      assert.strictEqual(failures, 3)
    })
  )
})
