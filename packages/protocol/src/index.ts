/**
 * The contract of a job store: its data as Schemas, its operations as one table, the service that drivers and the remote
 * client implement, and the RPC group between them.
 */
export * as Call from "./Call.ts"
export * from "./Claim.ts"
export * from "./Enqueue.ts"
export * from "./Errors.ts"
export * from "./Flow.ts"
export * from "./Job.ts"
export * as JobStore from "./JobStore.ts"
export * from "./JobStoreRpcs.ts"
export * as Json from "./Json.ts"
export * as Limits from "./Limits.ts"
export * from "./List.ts"
export * from "./Operations.ts"
export * from "./Policy.ts"
export * from "./Scalars.ts"
export * from "./Schedule.ts"
export * from "./Unbranded.ts"
export * as Validation from "./Validation.ts"
export * as Wire from "./Wire.ts"
