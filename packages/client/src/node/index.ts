/** A job store over the network, with the transports of Node, and what keeps the leases of a worker. */
export * as LeaseGuard from "../LeaseGuard.ts"
export * as RemoteJobStore from "./RemoteJobStore.ts"
