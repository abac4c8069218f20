/** What ends a wait. */
import type { State, Wake } from "./state.ts"

/** A call of `awaitWake`. */
export interface Wait {
  readonly queues: ReadonlyArray<string>
  readonly token: string
}

/**
 * Whether this ends the wait, at least when it is the only one. The contract leaves open whether a job of another name than the
 * claim had asked for does, in the queue of that claim; so one that asked for no name may wait for ever.
 */
export const endsBy = (state: State, { queues, token }: Wait, { name, queue, sure }: Wake): boolean => {
  const given = state.wakeTokens.findLast((each) => each.token === token)
  if (!sure || given === undefined || !queues.includes(queue)) return false
  if (given.queue !== queue) return true
  return name === undefined ? given.names.length > 0 : given.names.includes(name)
}

const since = (state: State, { token }: Wait): ReadonlyArray<Wake> => {
  const given = state.wakeTokens.findLast((each) => each.token === token)
  return state.wakes.slice(given?.wakes ?? 0)
}

/** Whether the wait must end at once: its token has missed something. */
export const mustEnd = (state: State, wait: Wait): boolean =>
  since(state, wait).some((wake) => endsBy(state, wait, wake))

/** Whether the wait may end: something has happened in one of its queues. */
export const mayEnd = (state: State, wait: Wait): boolean =>
  since(state, wait).some(({ queue }) => wait.queues.includes(queue))
