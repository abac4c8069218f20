/** effect-mq's Job, Worker and JobSchedules on a remote store of a `jobwire serve` process, on real time. */
import { assert, expect, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Option, Queue, References, Schedule, Scope } from "effect"
import { JobSchedules, type JobStore } from "effect-mq"
import { Flaky, Garbled, GiveUp, Hang, Jobs, Tell, Tick, Told, worker } from "../../support/job-app.ts"
import { JobwireServe } from "../../support/jobwire-serve.ts"
import { remoteStore } from "../../support/remote-effect-mq.ts"
import { hear } from "../../support/told.ts"

const often = { pollSchedule: Schedule.spaced("20 millis") }

/** Runs a test with a store of its own, which outlives its workers. */
const withStore = <A, E>(name: string, test: Effect.Effect<A, E, JobStore.Named<"jobs"> | Told | Scope.Scope>) =>
  Effect.scoped(test).pipe(
    Effect.provide(Layer.effect(Told, Queue.unbounded<string>())),
    Effect.provide(remoteStore(Jobs, { store: name })),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

layer(JobwireServe.layer, { excludeTestServices: true, timeout: "30 seconds" })("jobs in a remote store", (it) => {
  it.effect("are retried with their backoff, and give their result to whoever waits", () =>
    withStore(
      "retries",
      Effect.gen(function* () {
        yield* Layer.build(worker)
        const id = yield* Flaky.enqueue({ key: "a", failures: 2 })
        expect(yield* Flaky.awaitResult(id, often)).toBe(3)
        const runs = yield* Flaky.attempts(id)
        expect(runs.map((run) => run.outcome)).toEqual(["retried", "retried", "completed"])
        const failures = runs.slice(0, 2).map((run) => Option.getOrThrow(run.exit))
        expect(failures).toEqual([Exit.fail({ run: 1 }), Exit.fail({ run: 2 })])
        // 20 ms after the first failure, 40 ms after the second.
        const pauses = runs.slice(1).map((run, index) => (run.startedAt ?? 0) - (runs[index]?.finishedAt ?? 0))
        expect(pauses[0]).toBeGreaterThanOrEqual(20)
        expect(pauses[1]).toBeGreaterThanOrEqual(40)
      })
    )
  )

  it.effect("fail when their runs are spent, or at once when the error says so", () =>
    withStore(
      "failures",
      Effect.gen(function* () {
        yield* Layer.build(worker)
        const spent = yield* Flaky.enqueue({ key: "a", failures: 9 }, { attempts: 2 })
        expect(yield* Effect.flip(Flaky.awaitResult(spent, often))).toEqual({ run: 2 })
        const given = yield* GiveUp.enqueue({})
        expect(yield* Effect.flip(GiveUp.awaitResult(given, often))).toBe("no more")
        expect(yield* GiveUp.attempts(given)).toHaveLength(1)
      })
    )
  )

  it.effect("end, and do not run again, when their error is one that no database keeps", () =>
    withStore(
      "garbled",
      Effect.gen(function* () {
        yield* Layer.build(worker)
        const id = yield* Garbled.enqueue({})
        const exit = yield* Effect.exit(Garbled.awaitResult(id, often))
        assert(Exit.isFailure(exit))
        expect(String(Cause.squash(exit.cause))).toContain("could not be stored")
        expect(yield* Garbled.attempts(id)).toHaveLength(1)
      })
    )
  )

  it.effect("wait for their delay, run at once when promoted, and run once a key", () =>
    withStore(
      "delays",
      Effect.gen(function* () {
        yield* Layer.build(worker)
        const told = yield* Told
        yield* Tell.enqueue({ key: "in a day" }, { delay: "1 day" })
        const keyed = yield* Tell.enqueue({ key: "keyed" }, { delay: "1 day", dedupe: "key" })
        expect(yield* Tell.enqueue({ key: "keyed too" }, { dedupe: "key" })).toBe(keyed)
        yield* Tell.promote(keyed)
        yield* Tell.awaitResult(keyed, often)
        expect(yield* Tell.cancelByKey("key")).toBe(false)

        const delayed = yield* Tell.enqueue({ key: "delayed" }, { delay: "200 millis" })
        yield* Tell.awaitResult(delayed, often)
        const job = Option.getOrThrow(yield* (yield* Jobs).getJob(delayed))
        expect(job.runAt - job.enqueuedAt).toBe(200)
        expect(job.processedAt).toBeGreaterThanOrEqual(job.runAt)
        expect(yield* Queue.takeAll(told)).toEqual(["keyed", "delayed"])
      })
    )
  )

  it.effect("by the hundred go in at once, run once each, and leave nothing", () =>
    withStore(
      "many",
      Effect.gen(function* () {
        yield* Layer.build(worker)
        const told = yield* Told
        const keys = Array.from({ length: 300 }, (_, index) => `job ${index}`)
        const ids = yield* Tell.enqueueMany(keys.map((key) => ({ key })))
        expect(new Set(ids).size).toBe(300)
        const heard = yield* hear(told, keys)
        expect(heard.toSorted()).toEqual(keys.toSorted())
        const store = yield* Jobs
        yield* Effect.repeat(store.counts(), {
          until: (counts) => counts.completed === 300,
          schedule: Schedule.spaced("20 millis")
        })
        expect(yield* Queue.size(told)).toBe(0)
      })
    )
  )

  it.effect("are stopped by a cancel while they run", () =>
    withStore(
      "cancel",
      Effect.gen(function* () {
        yield* Layer.build(worker)
        const told = yield* Told
        const id = yield* Hang.enqueue({ key: "a" })
        yield* hear(told, ["hang a"])
        yield* Hang.cancel(id)
        yield* hear(told, ["interrupted a"])
        const exit = yield* Effect.exit(Hang.awaitResult(id, often))
        assert(Exit.isFailure(exit))
        expect(String(Cause.squash(exit.cause))).toContain("JobCancelledError")
        expect((yield* Hang.attempts(id)).map((run) => run.outcome)).toEqual(["cancelled"])
      })
    )
  )

  it.effect("go back to their place when the worker stops, and to another worker", () =>
    withStore(
      "release",
      Effect.gen(function* () {
        const told = yield* Told
        const first = yield* Scope.make()
        yield* Layer.buildWithScope(worker, first)
        const id = yield* Hang.enqueue({ key: "a" })
        yield* hear(told, ["hang a"])
        yield* Scope.close(first, Exit.void)
        expect(Option.getOrThrow(yield* Hang.poll(id))).toMatchObject({ state: "waiting", attemptsMade: 0 })
        yield* Layer.build(worker)
        yield* hear(told, ["hang a"])
        expect(yield* Hang.attempts(id)).toEqual([])
      })
    )
  )

  it.effect("of a schedule run once a second, whoever ticks it, also when it is declared again", () =>
    withStore(
      "schedule",
      Effect.gen(function* () {
        const told = yield* Told
        const schedules = JobSchedules.layer({
          group: "service",
          schedules: [JobSchedules.schedule(Tick, "each second", { cron: "* * * * * *", payload: { by: "cron" } })],
          removal: "group"
        })
        yield* Layer.build(Layer.mergeAll(Layer.fresh(worker), Layer.fresh(worker)))
        yield* Layer.build(schedules)
        const first = yield* Queue.take(told)
        yield* Layer.build(Layer.fresh(schedules))
        const next = [yield* Queue.take(told), yield* Queue.take(told)]
        const slots = [first, ...next].map((id) => Number(id.split("/").at(-1)))
        expect(slots.map((slot) => slot % 1000)).toEqual([0, 0, 0])
        // A machine that is too busy for a second skips it, and repeats none.
        expect(slots).toEqual([...new Set(slots)].toSorted((a, b) => a - b))

        // A release that does not declare it any more takes it away.
        yield* Layer.build(JobSchedules.layer({ group: "service", schedules: [], stores: [Jobs], removal: "group" }))
        expect(yield* (yield* Jobs).listSchedules()).toEqual([])
      })
    )
  )
})
