/** Running a program for each job: how its end becomes the end of the run. */
import { JobStore } from "@jobwire/protocol"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { drain, enqueue, job, start, withStore } from "./support/worker.ts"

const failure = (fields: Record<string, unknown>) => ({
  _tag: "Failure",
  cause: [{ _tag: "Die", defect: expect.objectContaining({ name: "ProgramFailed", ...fields }) }]
})

describe("a program that succeeds", () => {
  it("gets the payload on stdin and completes the job with the JSON it prints", () =>
    withStore(
      Effect.gen(function* () {
        const id = yield* enqueue({ payload: { n: 20, text: "å" } })
        const result = yield* drain({ exec: "cat" })
        expect(result).toMatchObject({ isEmpty: true, counts: { completed: 1 } })
        expect(yield* job(id)).toMatchObject({
          state: "completed",
          exit: { _tag: "Success", value: { n: 20, text: "å" } }
        })
      })
    ))

  it("completes with the text it prints when that is not JSON, without the newlines at its end", () =>
    withStore(
      Effect.gen(function* () {
        const id = yield* enqueue()
        yield* drain({ exec: "printf 'two\\nlines\\n\\n'" })
        expect((yield* job(id)).exit).toEqual({ _tag: "Success", value: "two\nlines" })
      })
    ))

  it("completes with null when it prints nothing", () =>
    withStore(
      Effect.gen(function* () {
        const id = yield* enqueue()
        yield* drain({ exec: "true" })
        expect((yield* job(id)).exit).toEqual({ _tag: "Success", value: null })
      })
    ))

  it("is not failed for printing too much: size and tail are kept", () =>
    withStore(
      Effect.gen(function* () {
        const id = yield* enqueue()
        yield* drain({ exec: "head -c 3000000 /dev/zero | tr '\\0' x; echo end" })
        const { exit, state } = yield* job(id)
        expect(state).toBe("completed")
        expect(exit).toMatchObject({
          value: { truncated: true, bytes: 3_000_004, tail: expect.stringMatching(/x{99}end\n$/) }
        })
      })
    ))

  it("is told about its job in the environment", () =>
    withStore(
      Effect.gen(function* () {
        const id = yield* enqueue({ id: "the id", metadata: { k: "v" }, priority: 3, attemptsMax: 4 })
        yield* drain({
          exec: "env | grep -E '^JOBWIRE_(ID|NAME|QUEUE|ATTEMPT|ATTEMPTS_MAX|METADATA|PRIORITY)=' | sort"
        })
        expect((yield* job(id)).exit).toMatchObject({
          value: [
            "JOBWIRE_ATTEMPT=1",
            "JOBWIRE_ATTEMPTS_MAX=4",
            "JOBWIRE_ID=the id",
            'JOBWIRE_METADATA={"k":"v"}',
            "JOBWIRE_NAME=job",
            "JOBWIRE_PRIORITY=3",
            "JOBWIRE_QUEUE=default"
          ].join("\n")
        })
      })
    ))

  it("need not read its input, however long that is", () =>
    withStore(
      Effect.gen(function* () {
        const id = yield* enqueue({ payload: "x".repeat(500_000) })
        yield* drain({ exec: "exec <&-; echo 1" })
        expect((yield* job(id)).exit).toEqual({ _tag: "Success", value: 1 })
      })
    ))
})

describe("a program that fails", () => {
  it("is run again by the backoff, and fails in the end with the tail of its stderr", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* JobStore.JobStore
        const backoff = { _tag: "exponential", delayMs: 20, factor: 3 } as const
        const id = yield* enqueue({ attemptsMax: 3, backoff })
        const result = yield* drain({ exec: "echo attempt $JOBWIRE_ATTEMPT >&2; exit 7" })
        expect(result.counts).toMatchObject({ retried: 2, failed: 1 })
        expect(yield* job(id)).toMatchObject({
          state: "failed",
          exit: failure({
            message: "the program exited with code 7: attempt 3",
            exitCode: 7,
            stderr: "attempt 3\n"
          })
        })
        const runs = yield* store.getAttempts(id)
        expect(runs.map(({ outcome }) => outcome)).toEqual(["retried", "retried", "failed"])
        const [first, second, third] = runs
        expect((second?.startedAt ?? 0) - (first?.finishedAt ?? 0)).toBeGreaterThanOrEqual(20)
        expect((third?.startedAt ?? 0) - (second?.finishedAt ?? 0)).toBeGreaterThanOrEqual(60)
      })
    ))

  it("fails its job at once with code 65", () =>
    withStore(
      Effect.gen(function* () {
        const id = yield* enqueue({ attemptsMax: 5 })
        const result = yield* drain({ exec: "echo no use >&2; exit 65" })
        expect(result.counts).toMatchObject({ failed: 1, retried: 0 })
        expect(yield* job(id)).toMatchObject({ state: "failed", attemptsMade: 1, exit: failure({ exitCode: 65 }) })
      })
    ))

  it("tells the signal that ended it", () =>
    withStore(
      Effect.gen(function* () {
        const id = yield* enqueue()
        yield* drain({ exec: "kill -9 $$" })
        expect((yield* job(id)).exit).toMatchObject(failure({ signal: "SIGKILL" }))
      })
    ))

  it("is stopped when it takes longer than the job allows, and counts as failed", () =>
    withStore(
      Effect.gen(function* () {
        const id = yield* enqueue({ timeoutMs: 100, attemptsMax: 2 })
        const result = yield* drain({ exec: "sleep 60" })
        expect(result.counts).toMatchObject({ retried: 1, failed: 1 })
        expect((yield* job(id)).exit).toMatchObject(failure({ timedOut: true }))
      })
    ))
})

describe("a worker that is asked to stop", () => {
  it("ends its programs and gives their jobs back without spending an attempt", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* JobStore.JobStore
        const ids = [yield* enqueue(), yield* enqueue(), yield* enqueue()]
        const worker = yield* start({ exec: "sleep 60", concurrency: 2 })
        yield* worker.next("Started")
        yield* worker.next("Started")
        yield* worker.stop
        for (const id of ids) expect(yield* job(id)).toMatchObject({ state: "waiting", attemptsMade: 0 })
        expect(yield* store.getAttempts(ids[0] ?? "")).toEqual([])
      })
    ))

  it("kills a program that does not heed TERM, and all it has started", () =>
    withStore(
      Effect.gen(function* () {
        const id = yield* enqueue()
        const worker = yield* start({ exec: "trap '' TERM; sleep 61 & sleep 62; sleep 63", graceMs: 200 })
        yield* worker.next("Started")
        yield* worker.stop
        expect(yield* job(id)).toMatchObject({ state: "waiting" })
      })
    ))
})

describe("a worker that loses its job", () => {
  it("stops the program when somebody cancels the job", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* JobStore.JobStore
        const id = yield* enqueue()
        const worker = yield* start({ exec: "sleep 60", leaseMs: 600 })
        yield* worker.next("Started")
        yield* store.cancel(id)
        expect(yield* worker.next("Ended")).toMatchObject({ outcome: "cancelled" })
        expect(yield* job(id)).toMatchObject({ state: "cancelled" })
        yield* worker.stop
      })
    ))
})
