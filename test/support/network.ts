/** A Jobwire server and its remote store in one process, with the network between them. */
import { RemoteJobStore } from "@jobwire/client/node"
import type { JobStore } from "@jobwire/protocol"
import { JobStores, JobStoreServer } from "@jobwire/server"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"

/** The URL of the server that the layer around serves. */
const serverUrl = Effect.map(HttpServer.HttpServer, ({ address }) =>
  "port" in address ? `http://127.0.0.1:${address.port}` : ""
)

/** The store of a driver as a client sees it: behind a server on a free port. */
export const remote = <E>(
  driver: Layer.Layer<JobStore.JobStore, E>,
  transport: "websocket" | "http"
): Layer.Layer<JobStore.JobStore, unknown> =>
  Layer.unwrap(Effect.map(serverUrl, (url) => RemoteJobStore.layer({ url, transport }))).pipe(
    Layer.provide(JobStoreServer.layerHttp({ port: 0 })),
    Layer.provide(JobStores.layerSingle),
    Layer.provide(driver)
  )
