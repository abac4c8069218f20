/** Keeping jobs while their programs run, and letting go in time. */
import { EnqueueRequest, JobStore, JobStoreError } from "@jobwire/protocol"
import { Effect } from "effect"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { drain, enqueue, job, start, unavailable, withFaults, withStore } from "./support/worker.ts"

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "jobwire-cli-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe("heartbeats", () => {
  it("keep a job for longer than its lease, all jobs in one call", () =>
    withStore(
      Effect.gen(function* () {
        const sizes: Array<number> = []
        const ids = [yield* enqueue(), yield* enqueue()]
        const result = yield* drain({ exec: "sleep 1.5", leaseMs: 600, concurrency: 2 }).pipe(
          withFaults((store) => ({
            extendLocks: (locks, durationMs) => {
              sizes.push(locks.length)
              return store.extendLocks(locks, durationMs)
            }
          }))
        )
        expect(result.counts).toMatchObject({ completed: 2, lost: 0 })
        expect(sizes).toContain(2)
        for (const id of ids) expect(yield* job(id)).toMatchObject({ state: "completed", stalledCount: 0 })
      })
    ))

  it("that say a lease is lost stop the program, and nothing is said about the job any more", () =>
    withStore(
      Effect.gen(function* () {
        let acks = 0
        yield* enqueue()
        const worker = yield* start({
          exec: `trap 'touch ${folder}/stopped; exit 0' TERM; sleep 60 & wait`,
          leaseMs: 600
        }).pipe(
          withFaults((store) => ({
            extendLocks: (locks) => Effect.succeed({ lost: locks.map(({ id }) => id), cancelRequested: [] }),
            ack: (...args) => {
              acks++
              return store.ack(...args)
            }
          }))
        )
        expect(yield* worker.next("Ended")).toMatchObject({ outcome: "lost" })
        expect(existsSync(join(folder, "stopped"))).toBe(true)
        expect(acks).toBe(0)
        yield* worker.stop
      })
    ))

  it("that do not get through stop the program before the lease ends, and the job is given back", () =>
    withStore(
      Effect.gen(function* () {
        const id = yield* enqueue()
        const leaseMs = 1200
        const worker = yield* start({ exec: "sleep 60", leaseMs, graceMs: 300 }).pipe(
          withFaults(() => ({ extendLocks: () => unavailable }))
        )
        yield* worker.next("Started")
        const { processedAt } = yield* job(id)
        expect(yield* worker.next("Unreachable")).toMatchObject({ message: "the server is away" })
        expect(yield* worker.next("Ended")).toMatchObject({ outcome: "released" })
        expect(Date.now() - (processedAt ?? 0)).toBeLessThan(leaseMs)
        expect(yield* job(id)).toMatchObject({ attemptsMade: 0, stalledCount: 0 })
        yield* worker.stop
      })
    ))
})

describe("calls that fail on the way", () => {
  it("a claim is sent again with its token, so that its job is not orphaned", () =>
    withStore(
      Effect.gen(function* () {
        const tokens: Array<string> = []
        const id = yield* enqueue()
        const worker = yield* start({ exec: "true" }).pipe(
          withFaults((store) => ({
            claim: (options) => {
              tokens.push(options.token)
              const answer = store.claim(options)
              return tokens.length === 1 ? Effect.andThen(answer, unavailable) : answer
            }
          }))
        )
        expect(yield* worker.next("Ended")).toMatchObject({ outcome: "completed" })
        expect(tokens[0]).toBe(tokens[1])
        expect((yield* job(id)).stalledCount).toBe(0)
        yield* worker.stop
      })
    ))

  it("a claim of several is sent again with its tokens, and each job runs once", () =>
    withStore(
      Effect.gen(function* () {
        const calls: Array<ReadonlyArray<string>> = []
        const ids = yield* Effect.forEach(["a", "b", "c"], (id) => enqueue({ id }))
        const worker = yield* start({ exec: `echo $JOBWIRE_ID >> ${folder}/runs`, concurrency: 5 }).pipe(
          withFaults((store) => ({
            claimMany: (options) => {
              calls.push(options.tokens)
              const answer = store.claimMany(options)
              return calls.length === 1 ? Effect.andThen(answer, unavailable) : answer
            }
          }))
        )
        for (const _id of ids) expect(yield* worker.next("Ended")).toMatchObject({ outcome: "completed" })
        expect(calls[0]).toHaveLength(5)
        expect(calls[1]).toEqual(calls[0])
        expect(readFileSync(join(folder, "runs"), "utf8").trim().split("\n").toSorted()).toEqual(["a", "b", "c"])
        for (const id of ids) expect((yield* job(id)).stalledCount).toBe(0)
        yield* worker.stop
      })
    ))

  it("an ack is sent again until it is answered, and its job does not run twice", () =>
    withStore(
      Effect.gen(function* () {
        let acks = 0
        const id = yield* enqueue()
        const result = yield* drain({ exec: `echo run >> ${folder}/runs` }).pipe(
          withFaults((store) => ({
            ack: (...args) =>
              Effect.suspend(() => {
                const answer = store.ack(...args)
                return ++acks === 1 ? Effect.andThen(answer, unavailable) : answer
              })
          }))
        )
        expect(acks).toBe(2)
        expect(result.counts).toMatchObject({ completed: 1, lost: 0 })
        expect(yield* job(id)).toMatchObject({ state: "completed" })
        expect(readFileSync(join(folder, "runs"), "utf8")).toBe("run\n")
      })
    ))

  it("a result that the store does not take is left out, and the job is completed all the same", () =>
    withStore(
      Effect.gen(function* () {
        const tooBig = new JobStoreError({
          message: "outcome.exit has 30 bytes, and the limit is 10",
          reason: { _tag: "LimitExceeded", field: "outcome.exit", limit: 10, size: 30 }
        })
        let acks = 0
        const id = yield* enqueue()
        yield* drain({ exec: "echo result" }).pipe(
          withFaults((store) => ({ ack: (...args) => (++acks === 1 ? Effect.fail(tooBig) : store.ack(...args)) }))
        )
        expect(yield* job(id)).toMatchObject({ state: "completed", exit: { value: { refused: tooBig.message } } })
      })
    ))

  it("no answer at the start ends a worker that is to end by itself", () =>
    withStore(
      Effect.gen(function* () {
        const error = yield* Effect.flip(drain({ exec: "true" }).pipe(withFaults(() => ({ claim: () => unavailable }))))
        expect(error).toMatchObject({ reason: { _tag: "Unavailable" } })
      })
    ))

  it("credentials that are refused end the worker", () =>
    withStore(
      Effect.gen(function* () {
        const refused = new JobStoreError({ message: "no", reason: { _tag: "Forbidden", scope: "work" } })
        const worker = drain({ exec: "true" }).pipe(withFaults(() => ({ claim: () => Effect.fail(refused) })))
        expect(yield* Effect.flip(worker)).toEqual(refused)
      })
    ))

  it("a program that cannot be started ends the worker and spends no attempt", () =>
    withStore(
      Effect.gen(function* () {
        const id = yield* enqueue()
        const error = yield* Effect.flip(drain({ command: { file: join(folder, "missing"), args: [] } }))
        expect(error.message).toContain("it was not found")
        expect(yield* job(id)).toMatchObject({ state: "waiting", attemptsMade: 0 })
      })
    ))
})

describe("the jobs of a worker that is gone", () => {
  it("come back when their lease has run out", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* JobStore.JobStore
        const id = yield* enqueue()
        yield* store.claim({ queue: "default", names: ["job"], token: "gone", lockDurationMs: 100 })
        const worker = yield* start({ exec: "true", leaseMs: 1000 })
        expect(yield* worker.next("Recovered")).toMatchObject({ id, failed: false })
        expect(yield* worker.next("Ended")).toMatchObject({ outcome: "completed" })
        expect(yield* job(id)).toMatchObject({ state: "completed", stalledCount: 1 })
        yield* worker.stop
      })
    ))

  it("fail when that happened too often", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* JobStore.JobStore
        const id = yield* enqueue()
        yield* store.claim({ queue: "default", names: ["job"], token: "gone", lockDurationMs: 100 })
        const worker = yield* start({ exec: "true", leaseMs: 1000, maxStalled: 0 })
        expect(yield* worker.next("Recovered")).toMatchObject({ id, failed: true })
        expect(yield* job(id)).toMatchObject({ state: "failed" })
        yield* worker.stop
      })
    ))
})

describe("until nothing is left", () => {
  it("a delayed job is waited for", () =>
    withStore(
      Effect.gen(function* () {
        const id = yield* enqueue({ delayMs: 300 })
        yield* drain({ exec: "true" })
        expect(yield* job(id)).toMatchObject({ state: "completed" })
      })
    ))

  it("a job that another worker runs is waited for", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* JobStore.JobStore
        const id = yield* enqueue()
        yield* store.claim({ queue: "default", names: ["job"], token: "other", lockDurationMs: 60_000 })
        const worker = yield* start({ exec: "true", untilEmpty: true })
        yield* worker.next("Ready")
        yield* store.release(id, "other")
        expect(yield* worker.next("Ended")).toMatchObject({ outcome: "completed" })
        yield* worker.stop
      })
    ))

  it("jobs of other names and queues do not matter", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* JobStore.JobStore
        yield* store.enqueue(EnqueueRequest.make({ name: "other", queue: "default" }))
        yield* store.enqueue(EnqueueRequest.make({ name: "job", queue: "other" }))
        expect(yield* drain({ exec: "true" })).toMatchObject({ isEmpty: true, counts: { completed: 0 } })
      })
    ))

  it("a paused queue is told of, and its jobs are waited for", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* JobStore.JobStore
        const id = yield* enqueue()
        yield* store.pause("default")
        const worker = yield* start({ exec: "true", untilEmpty: true })
        expect(yield* worker.next("Paused")).toMatchObject({ queue: "default" })
        yield* store.resume("default")
        yield* worker.next("Ended")
        expect(yield* job(id)).toMatchObject({ state: "completed" })
        yield* worker.stop
      })
    ))
})

describe("concurrency", () => {
  it("asks by one call for as many jobs as programs may start", () =>
    withStore(
      Effect.gen(function* () {
        const asked: Array<number> = []
        const ids = Array.from({ length: 5 }, (_, index) => `job-${index}`)
        for (const id of ids) yield* enqueue({ id })
        // The first three wait for each other.
        const exec = `touch ${folder}/$JOBWIRE_ID; while [ $(ls ${folder} | wc -l) -lt 3 ]; do sleep 0.02; done`
        const result = yield* drain({ exec, concurrency: 3 }).pipe(
          withFaults((store) => ({
            claim: (options) => {
              asked.push(1)
              return store.claim(options)
            },
            claimMany: (options) => {
              asked.push(options.tokens.length)
              return store.claimMany(options)
            }
          }))
        )
        expect(result.counts.completed).toBe(5)
        expect(asked[0]).toBe(3)
        expect(Math.max(...asked)).toBe(3)
        for (const id of ids) expect(yield* job(id)).toMatchObject({ state: "completed", attemptsMade: 1 })
      })
    ))

  it("runs that many programs at once, and no more", () =>
    withStore(
      Effect.gen(function* () {
        const started = `touch ${folder}/$JOBWIRE_ID`
        // Ends when three run at once; a fourth would be seen by all.
        const waits = `while [ $(ls ${folder} | wc -l) -lt 3 ]; do sleep 0.02; done; ls ${folder} | wc -l`
        const ids = yield* Effect.forEach(["a", "b", "c", "d"], (id) => enqueue({ id }))
        const result = yield* drain({ exec: `${started}; ${waits}`, concurrency: 3 })
        expect(result.counts.completed).toBe(4)
        const seen = yield* Effect.forEach(ids.slice(0, 3), job)
        expect(seen.some(({ exit }) => JSON.stringify(exit) === '{"_tag":"Success","value":3}')).toBe(true)
      })
    ))
})
