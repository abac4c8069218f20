/** The child's side of a flow: reports that wait to be carried to the parent's store. */
import type { JobStore } from "@jobwire/protocol"
import { takePage } from "../../core/Page.ts"
import type { Engine } from "./Engine.ts"
import { outboxBytes, outboxEntry, outboxSeq } from "./Records.ts"

export const peekOutbox =
  (engine: Engine): JobStore.Service["peekOutbox"] =>
  ({ after, limit }) =>
    engine.read((tables) => {
      const afterSeq = after === undefined ? undefined : outboxSeq(after)
      const limits = { length: Math.min(limit, engine.limits.pageLength), bytes: engine.limits.pageBytes }
      return takePage(tables.outbox.list(afterSeq ?? 0), limits, outboxBytes).items.map(outboxEntry)
    })

export const deleteOutbox =
  (engine: Engine): JobStore.Service["deleteOutbox"] =>
  (ids) =>
    engine.write(({ tables }) => {
      tables.outbox.delete(ids.map(outboxSeq).filter((seq) => seq !== undefined))
    })
