/** A job store over the network, with the transports of Node. */
export * as RemoteJobStore from "./RemoteJobStore.ts"
