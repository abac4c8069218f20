/** Enqueuing a stream of lines: in batches, in order, each line on its own. */
import { type EnqueueResult, JobStore, type JobStoreError } from "@jobwire/protocol"
import { Effect, Result, Schedule, Stream } from "effect"
import { plural } from "../output/Text.ts"
import type { Line } from "./Lines.ts"
import { type BadLine, type NumberedRequest, readLine, type RequestRules } from "./Requests.ts"

/** How far a load has come. */
export interface LoadProgress {
  /** The last line that was dealt with. */
  line: number
  enqueued: number
  /** Dropped because the id or the dedupe key was there. */
  duplicates: number
  bad: number
}

/** How far it has come, for people. */
export const describeProgress = ({ bad, duplicates, enqueued }: LoadProgress): string => {
  const parts = [`${plural(enqueued, "job")} enqueued`]
  if (duplicates > 0) parts.push(`${plural(duplicates, "job")} there already`)
  if (bad > 0) parts.push(`${plural(bad, "bad line")} left out`)
  return parts.join(", ")
}

/** What a load needs. */
export interface LoadOptions {
  readonly rules: RequestRules
  /** Batches under way at once. With more than one, jobs may change places in line. */
  readonly parallel: number
  readonly progress: LoadProgress
  readonly onBadLine: (bad: BadLine) => Effect.Effect<void>
}

type Read = Result.Result<NumberedRequest, BadLine>

const batchItems = 500
const batchBytes = 1_048_576

interface Pending {
  items: Array<Read>
  bytes: number
}

const bytesOf = (read: Read): number => (Result.isSuccess(read) ? read.success.bytes : 0)

// Batches of bounded length and size.
const batches = <E, R>(reads: Stream.Stream<Read, E, R>): Stream.Stream<ReadonlyArray<Read>, E, R> =>
  Stream.mapAccum(
    reads,
    (): Pending => ({ items: [], bytes: 0 }),
    (pending, read): readonly [Pending, ReadonlyArray<ReadonlyArray<Read>>] => {
      const bytes = bytesOf(read)
      const isFull = pending.items.length >= batchItems || pending.bytes + bytes > batchBytes
      if (isFull && pending.items.length > 0) return [{ items: [read], bytes }, [pending.items]]
      pending.items.push(read)
      return [{ items: pending.items, bytes: pending.bytes + bytes }, []]
    },
    { onHalt: ({ items }) => (items.length === 0 ? [] : [items]) }
  )

// Ids are in every request, so sending again changes nothing more.
const patience = { while: (error: JobStoreError) => error.isRetryable, schedule: Schedule.exponential(250), times: 5 }

const isAboutOne = ({ reason }: JobStoreError): boolean =>
  reason._tag === "InvalidArgument" || reason._tag === "LimitExceeded"

type Sent = Result.Result<EnqueueResult, string>

const sendEach = Effect.fnUntraced(function* (store: JobStore.Service, requests: ReadonlyArray<NumberedRequest>) {
  return yield* Effect.forEach(requests, ({ request }) =>
    store.enqueue(request).pipe(
      Effect.retry(patience),
      Effect.map((result): Sent => Result.succeed(result)),
      Effect.catchIf(isAboutOne, (error) => Effect.succeed<Sent>(Result.fail(error.message)))
    )
  )
})

// A store whose limits are narrower than the contract's may refuse a batch for one of its items: then each goes alone.
const send = Effect.fnUntraced(function* (store: JobStore.Service, requests: ReadonlyArray<NumberedRequest>) {
  if (requests.length === 0) return []
  return yield* store.enqueueMany(requests.map(({ request }) => request)).pipe(
    Effect.retry(patience),
    Effect.map((results) => results.map((result): Sent => Result.succeed(result))),
    Effect.catchIf(isAboutOne, () => sendEach(store, requests))
  )
})

const isDuplicate = ({ isDrawn, request }: NumberedRequest, { duplicate, id }: EnqueueResult): boolean =>
  duplicate && !(isDrawn && id === request.id)

/** Enqueues the lines. Bad ones are told and counted, and the rest goes on; a failure of the store ends it. */
export const load = Effect.fn("load")(function* <E, R>(lines: Stream.Stream<Line, E, R>, options: LoadOptions) {
  const store = yield* JobStore.JobStore
  const { onBadLine, progress, rules } = options
  const tellBad = (bad: BadLine) =>
    Effect.suspend(() => {
      progress.bad++
      return onBadLine(bad)
    })
  const deal = Effect.fnUntraced(function* (batch: ReadonlyArray<Read>) {
    const requests = batch.filter(Result.isSuccess).map(({ success }) => success)
    for (const read of batch) if (Result.isFailure(read)) yield* tellBad(read.failure)
    const sent = yield* send(store, requests)
    for (const [index, request] of requests.entries()) {
      const result = sent[index]
      if (result === undefined) continue
      if (Result.isFailure(result)) yield* tellBad({ line: request.line, problem: result.failure })
      else if (isDuplicate(request, result.success)) progress.duplicates++
      else progress.enqueued++
    }
    const last = batch.at(-1)
    if (last !== undefined) progress.line = Math.max(progress.line, lineOf(last))
  })
  const read = Stream.map(lines, (line) => readLine(line, rules))
  yield* batches(read).pipe(
    Stream.buffer({ capacity: 1 }),
    Stream.mapEffect(deal, { concurrency: options.parallel }),
    Stream.runDrain
  )
})

const lineOf = (read: Read): number => (Result.isSuccess(read) ? read.success.line : read.failure.line)
