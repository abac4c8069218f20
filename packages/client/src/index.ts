/** A job store over the network, for every platform with `fetch` and `WebSocket`. */
export * as RemoteJobStore from "./RemoteJobStore.ts"
