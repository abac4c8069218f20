/** Pausing queues. */
import { type Step, succeed } from "./answers.ts"

export const pause: Step<"pause"> = (state, _now, [queue]) =>
  succeed({ ...state, paused: [...state.paused.filter((each) => each !== queue), queue] }, undefined)

export const resume: Step<"resume"> = (state, _now, [queue]) => {
  // One that is not paused has no pause to end, so nobody need be woken.
  const sure = state.paused.includes(queue)
  const wakes = [...state.wakes, { queue, name: undefined, sure }]
  return succeed({ ...state, wakes, paused: state.paused.filter((each) => each !== queue) }, undefined)
}

export const pausedQueues: Step<"pausedQueues"> = (state) => succeed(state, state.paused)
