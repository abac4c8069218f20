/** A network that fails on purpose: see {@link start}. */
export type { Counts, Entry } from "./FaultLog.ts"
export { FaultProxy, layer, type Options, start } from "./FaultProxy.ts"
export { FaultsError } from "./FaultsError.ts"
export { type Kind, kinds, type Target, targets } from "./Kinds.ts"
export { defaults, type KindChoice, type Settings } from "./Settings.ts"
