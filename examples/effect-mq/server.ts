/**
 * A Jobwire server in front of effect-mq's own memory store. With effect-mq's Postgres or Redis store in its place, an
 * application keeps its jobs where they are and reaches them over HTTP. (`jobwire serve` needs no program: it keeps the
 * jobs in a store of Jobwire's own.)
 */
import { JobStores, JobStoreServer } from "@jobwire/server"
import * as EffectMq from "@jobwire/server/effect-mq"
import { Layer } from "effect"
import { MemoryJobStore } from "effect-mq"

const stores = JobStores.layerSingle.pipe(Layer.provide(EffectMq.layer), Layer.provide(MemoryJobStore.layer))

/** The server at 127.0.0.1. */
export const layer = (port: number) => JobStoreServer.layerHttp({ port }).pipe(Layer.provide(stores))
