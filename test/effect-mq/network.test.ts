/** effect-mq's suite through the network: our drivers and effect-mq's own, behind a server, through the remote store. */
import * as ToTheirs from "@jobwire/client/effect-mq"
import type { JobStore } from "@jobwire/protocol"
import { MemoryJobStore } from "@jobwire/server"
import * as FromTheirs from "@jobwire/server/effect-mq"
import { Layer } from "effect"
import { MemoryJobStore as TheirMemoryJobStore } from "effect-mq"
import { jobStoreConformance } from "effect-mq/testing"
import { freshFleet } from "../support/fleet.ts"
import { freshPostgres } from "../support/fresh-postgres.ts"
import { freshSqlite } from "../support/fresh-sqlite.ts"
import * as Network from "../support/network.ts"

const drivers: Record<string, Layer.Layer<JobStore.JobStore, unknown>> = {
  memory: MemoryJobStore.layer,
  sqlite: freshSqlite,
  postgres: freshPostgres,
  "effect-mq's memory store": FromTheirs.layer.pipe(Layer.provide(TheirMemoryJobStore.layer))
}

for (const [name, driver] of Object.entries(drivers)) {
  for (const transport of ["websocket", "http"] as const) {
    jobStoreConformance(`${name} over ${transport}`, () =>
      ToTheirs.layer.pipe(Layer.provide(Network.remote(driver, transport)), Layer.orDie)
    )
  }
}

for (const transport of ["websocket", "http"] as const) {
  jobStoreConformance(`three servers on PostgreSQL over ${transport}`, () =>
    ToTheirs.layer.pipe(Layer.provide(freshFleet(transport)), Layer.orDie)
  )
}
