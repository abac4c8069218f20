/** A job store over the network, for every platform with `fetch` and `WebSocket`, and what keeps the leases of a worker. */
export * as LeaseGuard from "./LeaseGuard.ts"
export * as RemoteJobStore from "./RemoteJobStore.ts"
