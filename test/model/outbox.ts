/** Reports that wait for delivery. */
import type { OutboxEntry } from "@jobwire/protocol"
import { type Step, succeed } from "./answers.ts"
import type { Outgoing } from "./state.ts"

const entryOf = ({ entry }: Outgoing, id = ""): OutboxEntry => ({ id, ...entry })

export const peekOutbox: Step<"peekOutbox"> = (state, _now, [{ after, limit }], told) => {
  const from = after === undefined ? -1 : state.outbox.findIndex(({ id }) => id === after)
  const seen = state.outbox.filter(({ deleted }, index) => !deleted && index > from).slice(0, limit)
  // An id is drawn when it is first told, and must be new.
  const idOf = (outgoing: Outgoing, position: number): string => {
    const drawn = told?.[position]?.id
    if (outgoing.id !== undefined) return outgoing.id
    const isNew = drawn !== undefined && drawn !== "" && !state.outbox.some(({ id }) => id === drawn)
    return isNew ? drawn : `outgoing-${state.outbox.indexOf(outgoing)}`
  }
  const ids = new Map(seen.map((outgoing, position) => [outgoing, idOf(outgoing, position)]))
  return succeed(
    { ...state, outbox: state.outbox.map((outgoing) => ({ ...outgoing, id: ids.get(outgoing) ?? outgoing.id })) },
    seen.map((outgoing) => entryOf(outgoing, ids.get(outgoing)))
  )
}

export const deleteOutbox: Step<"deleteOutbox"> = (state, _now, [ids]) =>
  succeed(
    {
      ...state,
      outbox: state.outbox.map((outgoing) => ({
        ...outgoing,
        deleted: outgoing.deleted || (outgoing.id !== undefined && ids.includes(outgoing.id))
      }))
    },
    undefined
  )
