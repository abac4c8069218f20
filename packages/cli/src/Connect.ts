/** From the flags of a connection to a job store. */
import type { JobStore, JobStoreError } from "@jobwire/protocol"
import { RemoteJobStore } from "@jobwire/client/node"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { Command } from "effect/cli"
import type { Connection } from "./flags/Connection.ts"

/** How a connection becomes a store. Tests put a store of their own here. */
export const Connector = Context.Reference<(connection: Connection) => Layer.Layer<JobStore.JobStore, JobStoreError>>(
  "jobwire/Connector",
  { defaultValue: () => remote }
)

// A person waits for the answer. A worker and a load of many jobs go on trying by themselves.
const patience = "3 seconds"

const isGiven = (text: string): boolean => text !== ""

const remote = ({ store, token, url }: Connection): Layer.Layer<JobStore.JobStore, JobStoreError> =>
  RemoteJobStore.layer({
    url,
    token: Option.getOrUndefined(Option.filter(token, (secret) => isGiven(Redacted.value(secret)))),
    store: Option.getOrUndefined(Option.filter(store, isGiven)),
    outageTimeout: patience,
    retryTimeout: patience
  })

const layerStore = (connection: Connection): Layer.Layer<JobStore.JobStore, JobStoreError> =>
  Layer.unwrap(Effect.map(Connector, (connect) => connect(connection)))

/** Gives a command that has the flags of a connection the store they name. */
export const provideStore = <const Name extends string, Input extends Connection, C, E, R>(
  self: Command.Command<Name, Input, C, E, R>
) => Command.provide(self, layerStore)
