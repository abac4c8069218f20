/**
 * The application: a worker, and a producer that sends one mail and a newsletter and waits for the reports. It works on the
 * Jobwire server at `JOBWIRE_URL`, or starts the one of `server.ts` when there is none.
 */
import { NodeRuntime } from "@effect/platform-node"
import * as EffectMq from "@jobwire/client/effect-mq"
import { RemoteJobStore } from "@jobwire/client/node"
import { Config, Effect, Layer, Option } from "effect"
import { HttpServer } from "effect/http"
import { Newsletter, SendMail } from "./jobs.ts"
import * as Server from "./server.ts"
import * as Worker from "./worker.ts"

// effect-mq's store, on a Jobwire server. Everything else in this application is as it was with effect-mq's own store.
const storeAt = (url: string) => EffectMq.layer.pipe(Layer.provide(RemoteJobStore.layer({ url })))

const ownServer = Layer.unwrap(
  Effect.map(HttpServer.HttpServer, ({ address }) => storeAt(HttpServer.formatAddress(address)))
).pipe(Layer.provide(Server.layer(0)))

const StoreLive = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* Config.option(Config.String("JOBWIRE_URL"))
    return Option.isSome(url) ? storeAt(url.value) : ownServer
  })
)

const produce = Effect.gen(function* () {
  const mail = yield* SendMail.execute({ to: "busy@example.org", subject: "Welcome" })
  yield* Effect.logInfo(`the mail has the id ${mail.messageId}`)
  const report = yield* Newsletter.execute({
    subject: "What is new",
    readers: ["ada@example.org", "busy.grace@example.org", "nobody"]
  })
  yield* Effect.logInfo(`newsletter: ${report.sent} sent, ${report.failed} failed`)
})

const application = Effect.scoped(Effect.andThen(Layer.build(Worker.layer), produce)).pipe(Effect.provide(StoreLive))

NodeRuntime.runMain(application)
