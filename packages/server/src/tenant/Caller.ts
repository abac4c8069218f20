/** Who is calling: what the door found out from the credentials, for everything behind it. */
import type { Scope } from "@jobwire/protocol"
import { Context } from "effect"
import { defaultStoreId, type StoreId } from "../JobStores.ts"

/** The caller of the current request. */
export interface Caller extends StoreId {
  readonly scopes: ReadonlySet<Scope>
}

/**
 * The caller of the current request. The default may do nothing, so a door that forgets to say who is calling lets nobody
 * in.
 */
export const CurrentCaller = Context.Reference<Caller>("@jobwire/server/Caller", {
  defaultValue: () => ({ ...defaultStoreId, scopes: new Set() })
})
