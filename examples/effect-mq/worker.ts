/** Runs the application's jobs: effect-mq's worker, whatever store it is given. */
import { Effect, Layer } from "effect"
import { Flow, Worker } from "effect-mq"
import { NewsletterFlow, SendMail } from "./jobs.ts"

const mail = SendMail.toLayer(
  ({ to }) =>
    Effect.gen(function* () {
      const { attempt, jobId } = yield* Worker.CurrentJob
      // A mail server that is busy at first, and an address that no mail server takes.
      if (!to.includes("@")) return yield* Effect.fail({ reason: `${to} is no address` })
      if (attempt === 1 && to.startsWith("busy")) return yield* Effect.fail({ reason: "try again later" })
      yield* Effect.logInfo(`mail to ${to}, run ${attempt}`)
      return { messageId: jobId }
    }),
  { concurrency: 4 }
)

const newsletter = NewsletterFlow.toLayer({
  fanOut: ({ readers, subject }) =>
    Effect.succeed(
      Flow.children(
        SendMail,
        readers.map((to) => ({ key: to, payload: { to, subject } }))
      )
    ),
  collect: (_payload, { counts }) => Effect.succeed({ sent: counts.completed, failed: counts.failed })
})

export const layer = Layer.mergeAll(mail, newsletter).pipe(Layer.provide(Worker.layer()))
