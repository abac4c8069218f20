/** Every argument that takes a JSON value or a metadata map. */
import * as Limits from "../Limits.ts"
import { report } from "./flowKit.ts"
import * as Kit from "./kit.ts"
import { shared } from "./requestPlaces.ts"
import { type Place, waysToAck } from "./world.ts"

/** An argument that takes a JSON value of at most `limit` bytes. */
export interface ValuePlace extends Place<unknown> {
  readonly limit: number
}

const exits: ReadonlyArray<Place<unknown>> = [
  ...waysToAck.flatMap(({ ack, operation }) =>
    ([Kit.complete, Kit.fail, (exit: unknown) => Kit.again(0, exit)] as const).map((outcome) => ({
      operation: `${operation} ${outcome(undefined)._tag}`,
      field: "outcome.exit",
      call: (store: Kit.Store, { held }: { readonly held: Kit.Held }, exit: unknown) =>
        ack(store, held.id, held.token, outcome(exit))
    }))
  ),
  {
    operation: "recordChildResults",
    field: "reports[1].exit",
    call: (store, { parent }, exit) =>
      store.recordChildResults([report(parent, "a", "completed"), report(parent, "b", "completed", { exit })])
  }
]

const limited = (limit: number, places: ReadonlyArray<Place<unknown>>): ReadonlyArray<ValuePlace> =>
  places.map(({ call, field, operation }) => ({ operation, field, call, limit }))

/** Payloads and exits. */
export const valuePlaces: ReadonlyArray<ValuePlace> = [
  ...limited(Limits.defaults.payloadBytes, shared({ name: "payload", set: (payload: unknown) => ({ payload }) })),
  ...limited(Limits.defaults.exitBytes, exits)
]

/** Maps of metadata. */
export const metadataPlaces: ReadonlyArray<Place<Record<string, string>>> = [
  ...shared({ name: "metadata", set: (metadata: Record<string, string>) => ({ metadata }) }),
  {
    operation: "list",
    field: "options.metadata",
    call: (store, _world, metadata) => store.list({ metadata })
  }
]
