/** An effect-mq application with plain jobs in one store, named `jobs`. */
import { Context, Effect, Layer, Queue, Schema } from "effect"
import { Job, JobStore, Worker } from "effect-mq"

export const Jobs = JobStore.named("jobs")

/** What handlers tell the test, in the order of their telling. */
export class Told extends Context.Service<Told, Queue.Queue<string>>()("test/job-app/Told") {}

const tell = (what: string) => Effect.flatMap(Told, (told) => Queue.offer(told, what))

/** Fails as often as it is told to, then answers the number of its run. */
export class Flaky extends Job.make("Flaky", {
  store: Jobs,
  payload: { key: Schema.String, failures: Schema.Finite },
  success: Schema.Finite,
  error: Schema.Struct({ run: Schema.Finite }),
  defaults: { attempts: 4, backoff: { type: "exponential", delay: "20 millis" } }
}) {}

/** Tells its key. */
export class Tell extends Job.make("Tell", {
  store: Jobs,
  payload: { key: Schema.String },
  defaults: { attempts: 1 }
}) {}

/** Gives up for good at its first failure. */
export class GiveUp extends Job.make("GiveUp", {
  store: Jobs,
  payload: {},
  error: Schema.String,
  retryable: () => false,
  defaults: { attempts: 5 }
}) {}

/** Hangs until it is interrupted. */
export class Hang extends Job.make("Hang", { store: Jobs, payload: { key: Schema.String } }) {}

/** Fails with an error whose text no database keeps. */
export class Garbled extends Job.make("Garbled", { store: Jobs, payload: {} }) {}

/** Tells which occurrence of its schedule it is. */
export class Tick extends Job.make("Tick", { store: Jobs, payload: { by: Schema.String } }) {}

const handlers = Layer.mergeAll(
  Flaky.toLayer(
    ({ failures, key }) =>
      Effect.gen(function* () {
        const { attempt } = yield* Worker.CurrentJob
        yield* tell(`flaky ${key} ${attempt}`)
        return attempt <= failures ? yield* Effect.fail({ run: attempt }) : attempt
      }),
    { concurrency: 4 }
  ),
  Tell.toLayer(({ key }) => Effect.asVoid(tell(key))),
  GiveUp.toLayer(() => Effect.fail("no more")),
  Hang.toLayer(({ key }) =>
    tell(`hang ${key}`).pipe(
      Effect.andThen(Effect.never),
      Effect.onInterrupt(() => tell(`interrupted ${key}`))
    )
  ),
  Garbled.toLayer(() => Effect.die(new Error("a\u0000b"))),
  Tick.toLayer(() => Effect.flatMap(Worker.CurrentJob, ({ jobId }) => Effect.asVoid(tell(jobId))))
)

/** A worker for all of it. It stops, and gives its jobs back, when the layer's scope closes. */
export const worker: Layer.Layer<never, never, JobStore.Named<"jobs"> | Told> = handlers.pipe(
  Layer.provide(
    Worker.layer({
      store: Jobs,
      lockDuration: "2 seconds",
      lockRenewInterval: "100 millis",
      stalledInterval: "300 millis",
      pollInterval: "5 seconds",
      scheduleSweepInterval: "100 millis"
    })
  )
)
