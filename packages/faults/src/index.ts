/** A proxy between a client and its servers that breaks the network on purpose, by a seed. */
export * as Faults from "./Faults.ts"
