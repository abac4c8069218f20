/** Puts any job store behind HTTP and WebSocket, and brings stores of its own. */
export * as JobStores from "./JobStores.ts"
export * as MemoryJobStore from "./drivers/memory/MemoryJobStore.ts"
export * as SqliteJobStore from "./drivers/sqlite/SqliteJobStore.ts"
export * as JobStoreServer from "./JobStoreServer.ts"
export * as Tokens from "./tenant/Tokens.ts"
