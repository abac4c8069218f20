/** effect-mq's suite on its own memory store behind both adapters: there and back. */
import * as ToTheirs from "@jobwire/client/effect-mq"
import * as FromTheirs from "@jobwire/server/effect-mq"
import { Layer } from "effect"
import { MemoryJobStore } from "effect-mq"
import { jobStoreConformance } from "effect-mq/testing"

jobStoreConformance("effect-mq's memory store, as ours, as effect-mq's again", () =>
  ToTheirs.layer.pipe(Layer.provide(FromTheirs.layer), Layer.provide(MemoryJobStore.layer))
)
