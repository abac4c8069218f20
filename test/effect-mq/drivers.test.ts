/** effect-mq's suite on our drivers, through the adapter. */
import * as EffectMq from "@jobwire/client/effect-mq"
import { MemoryJobStore } from "@jobwire/server"
import { Layer } from "effect"
import { jobStoreConformance } from "effect-mq/testing"
import { freshPostgres } from "../support/fresh-postgres.ts"
import { freshSqlite } from "../support/fresh-sqlite.ts"

jobStoreConformance("the memory driver", () => EffectMq.layer.pipe(Layer.provide(MemoryJobStore.layer)))

jobStoreConformance("the sqlite driver", () => EffectMq.layer.pipe(Layer.provide(freshSqlite), Layer.orDie))

jobStoreConformance("the postgres driver", () => EffectMq.layer.pipe(Layer.provide(freshPostgres), Layer.orDie))
