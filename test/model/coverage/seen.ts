/** One call that was made, and how to ask what it was. */
import type { OperationName } from "@jobwire/protocol"
import type { Answer, Call, CallOf } from "../answers.ts"
import { find, type Job, type State } from "../state.ts"

/** A call, its answer, and the model around it. */
export interface Seen {
  readonly call: Call
  readonly answer: Answer<unknown>
  readonly before: State
  readonly after: State
  readonly now: number
}

/** Whether a call was in a branch. */
export interface Branch {
  (seen: Seen): boolean
}

/** Branches by their names. */
export type Branches = Readonly<Record<string, Branch>>

/** A branch of one operation. */
export const of =
  <Name extends OperationName>(name: Name, holds: (args: CallOf<Name>["args"], seen: Seen) => boolean): Branch =>
  (seen) =>
    // The name was compared, and the arguments go with it.
    seen.call.name === name && holds(seen.call.args as unknown as CallOf<Name>["args"], seen)

export const succeeded = ({ answer }: Seen): boolean => answer._tag === "Success"

/** The value of the answer; nothing when the call has failed. */
export const valueOf = ({ answer }: Seen): unknown => (answer._tag === "Success" ? answer.value : undefined)

/** Whether the answer has this in its JSON text. */
export const says = (seen: Seen, text: string): boolean => JSON.stringify(valueOf(seen) ?? null).includes(text)

/** The job as it was before the call. */
export const was = ({ before }: Seen, id: string): Job | undefined => find(before, id)

/** The job as it is after the call. */
export const is = ({ after }: Seen, id: string): Job | undefined => find(after, id)

/** The jobs that the call has changed or taken away: before, and after if they are there. */
export const changes = ({ after, before }: Seen): ReadonlyArray<readonly [Job, Job | undefined]> => {
  const left = new Map(after.jobs.map((job) => [job.number, job]))
  return before.jobs
    .map((job) => [job, left.get(job.number)] as const)
    .filter(([job, now]) => job !== now)
}

/** Whether some job went from one state to another; "gone" when it is there no more. */
export const went = (seen: Seen, from: Job["record"]["state"], to: Job["record"]["state"] | "gone"): boolean =>
  changes(seen).some(([job, now]) => job.record.state === from && (now?.record.state ?? "gone") === to)
