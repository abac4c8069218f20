/** Lines of a file, and what becomes of them. */
import { EnqueueRequest, JobStore, JobStoreError, Limits } from "@jobwire/protocol"
import { MemoryJobStore } from "@jobwire/server"
import { Effect, Result, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { type Line, lineLimit, lines } from "../../src/enqueue/Lines.ts"
import { load, type LoadProgress } from "../../src/enqueue/Load.ts"
import { type BadLine, readLine, type RequestRules } from "../../src/enqueue/Requests.ts"

const collect = (chunks: ReadonlyArray<Uint8Array>): Promise<ReadonlyArray<Line>> =>
  Effect.runPromise(Stream.runCollect(lines(Stream.fromIterable(chunks))))

const bytes = (text: string) => new TextEncoder().encode(text)

describe("lines", () => {
  it("are the same however the input is cut", async () => {
    const text = '\uFEFF"å"\r\n\n{"long": "ü€😀"}\nlast'
    const whole = await collect([bytes(text)])
    expect(whole.map(({ number, text }) => [number, text.trim()])).toEqual([
      [1, '"å"'],
      [3, '{"long": "ü€😀"}'],
      [4, "last"]
    ])
    const cut = await collect(Array.from(bytes(text), (byte) => Uint8Array.of(byte)))
    expect(cut).toEqual(whole)
  })

  it("that are not UTF-8 or too long are named, and the rest is read", async () => {
    const long = new Uint8Array(1_048_576).fill(0x78)
    const chunks = [Uint8Array.of(0xff, 0x0a), ...Array<Uint8Array>(9).fill(long), bytes("\n1\n")]
    expect(await collect(chunks)).toEqual([
      { number: 1, text: "", bytes: 1, problem: "is not UTF-8 text" },
      { number: 2, text: "", bytes: 9_437_184, problem: `has 9437184 bytes, and the limit is ${lineLimit}` },
      { number: 3, text: "1", bytes: 1 }
    ])
  })
})

const rules: RequestRules = {
  kind: "payload",
  base: EnqueueRequest.make({ name: "job", queue: "default", attemptsMax: 3 }),
  idPrefix: undefined,
  limits: Limits.defaults
}

const line = (text: string, number = 1): Line => ({ number, text, bytes: text.length })

const problem = (text: string, kind: RequestRules["kind"] = "payload"): string | undefined => {
  const read = readLine(line(text), { ...rules, kind })
  return Result.isFailure(read) ? read.failure.problem : undefined
}

describe("a line", () => {
  it("is a payload, with what the flags say about every job", () => {
    const read = Result.getOrThrow(readLine(line("null", 7), { ...rules, idPrefix: "load" }))
    expect(read.request).toMatchObject({ id: "load-7", payload: null, attemptsMax: 3, name: "job" })
  })

  it("is a complete request, which says otherwise", () => {
    const read = Result.getOrThrow(
      readLine(line('{"attemptsMax": 1, "metadata": {"a": "b"}}'), { ...rules, kind: "request" })
    )
    expect(read.request).toMatchObject({ attemptsMax: 1, metadata: { a: "b" }, name: "job", payload: undefined })
  })

  it("that cannot be enqueued says why", () => {
    expect(problem("{")).toMatch(/^is not JSON: /)
    expect(problem('"\\ud800"')).toBe("payload contains a lone surrogate, which is not valid Unicode")
    expect(problem(`"${"x".repeat(1_048_575)}"`)).toBe("payload has 1048577 bytes, and the limit is 1048576")
    expect(problem("1", "request")).toMatch(/^is not an object/)
    expect(problem('{"priority": "high"}', "request")).toMatch(/^is not a request: .*priority/)
    expect(problem('{"priorty": 1}', "request")).toMatch(/priorty/)
    expect(problem('{"name": ""}', "request")).toBe("name must not be empty")
  })
})

const run = (texts: ReadonlyArray<string>, store: (memory: JobStore.Service) => JobStore.Service, parallel = 1) => {
  const progress: LoadProgress = { line: 0, enqueued: 0, duplicates: 0, bad: 0 }
  const bad: Array<BadLine> = []
  const onBadLine = (each: BadLine) => Effect.sync(() => void bad.push(each))
  const input = Stream.fromIterable(texts.map((text, index) => line(text, index + 1)))
  return Effect.gen(function* () {
    const memory = yield* JobStore.JobStore
    const loaded = load(input, { rules: { ...rules, idPrefix: "l" }, parallel, progress, onBadLine })
    const result = yield* Effect.result(Effect.provideService(loaded, JobStore.JobStore, store(memory)))
    const { items } = yield* memory.list({ order: "asc", limit: 1000 })
    return { progress, bad, result, items }
  }).pipe(Effect.provide(MemoryJobStore.layer), Effect.runPromise)
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index))

const refuse = (size: number) =>
  new JobStoreError({
    message: `payload has ${size} bytes`,
    reason: { _tag: "LimitExceeded", field: "payload", limit: 10, size }
  })

describe("a load", () => {
  it("keeps the order of the file, in batches of bounded length", async () => {
    const sizes: Array<number> = []
    const { items, progress } = await run(numbers(1000), (memory) => ({
      ...memory,
      enqueueMany: (requests) => {
        sizes.push(requests.length)
        return memory.enqueueMany(requests)
      }
    }))
    expect(progress).toEqual({ line: 1000, enqueued: 1000, duplicates: 0, bad: 0 })
    expect(Math.max(...sizes)).toBe(500)
    expect(items.length).toBe(1000)
    const claimed = items.map(({ payload }) => payload)
    expect(claimed.toSorted((a, b) => Number(a) - Number(b))).toEqual(numbers(1000).map(Number))
  })

  it("sends a batch again whose answer was lost, and makes no job twice", async () => {
    let calls = 0
    const lost = new JobStoreError({ message: "gone", reason: { _tag: "Unavailable", url: undefined, sent: true } })
    const { items, progress, result } = await run(numbers(10), (memory) => ({
      ...memory,
      enqueueMany: (requests) =>
        Effect.suspend(() => {
          const sent = memory.enqueueMany(requests)
          return ++calls === 1 ? Effect.andThen(sent, Effect.fail(lost)) : sent
        })
    }))
    expect(Result.isSuccess(result)).toBe(true)
    expect(items).toHaveLength(10)
    expect(progress.enqueued + progress.duplicates).toBe(10)
  })

  it("finds the line that a store with narrower limits refuses", async () => {
    const narrow: Limits.Limits = { ...Limits.defaults, payloadBytes: 10 }
    const tooBig = (request: EnqueueRequest) => JSON.stringify(request.payload).length > narrow.payloadBytes
    const { bad, items, progress } = await run(["1", '"much too long"', "3"], (memory) => ({
      ...memory,
      enqueue: (request) => (tooBig(request) ? Effect.fail(refuse(15)) : memory.enqueue(request)),
      enqueueMany: (requests) => (requests.some(tooBig) ? Effect.fail(refuse(15)) : memory.enqueueMany(requests))
    }))
    expect(bad).toEqual([{ line: 2, problem: "payload has 15 bytes" }])
    expect(items.map(({ id }) => id).toSorted()).toEqual(["l-1", "l-3"])
    expect(progress).toEqual({ line: 3, enqueued: 2, duplicates: 0, bad: 1 })
  })

  it("ends when the store refuses the credentials, and says how far it came", async () => {
    const refused = new JobStoreError({ message: "no", reason: { _tag: "Unauthorized" } })
    let calls = 0
    const { progress, result } = await run(numbers(1200), (memory) => ({
      ...memory,
      enqueueMany: (requests) => (++calls === 2 ? Effect.fail(refused) : memory.enqueueMany(requests))
    }))
    expect(result).toEqual(Result.fail(refused))
    expect(progress).toMatchObject({ line: 500, enqueued: 500 })
  })
})
