/** The states of a `live` row: those of a job, with waiting split in two. Partial indexes name these numbers. */
import type { JobState } from "@jobwire/protocol"
import type { JobRow } from "../../core/JobRow.ts"
import { states } from "../columns/Codes.ts"

/** Waiting, never moved since it joined its line at the end. */
export const fresh = states.code("waiting")

/** Waiting in the place it had before: released, recovered from a stall, or promoted. */
export const returned = 7

export const delayed = states.code("delayed")
export const active = states.code("active")
export const waitingChildren = states.code("waiting-children")

/** The state of a job whose row has this number. */
export const stateOf = (code: number): JobState => (code === returned ? "waiting" : states.word(code))

/** The number for the row of a job: one that waits where it had its place before has returned to it. */
export const codeOf = ({ place, state }: JobRow, placeBefore: number | undefined): number =>
  state === "waiting" && place === placeBefore ? returned : states.code(state)
