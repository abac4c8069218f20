/** Commands that wait, and what ends a wait. */
import { EnqueueRequest } from "@jobwire/protocol"
import * as fc from "fast-check"
import { carry, report, tick } from "./flowCommands.ts"
import { end, promote, recover, release, replace, resume, retry, turnedIn } from "./jobCommands.ts"
import { command, type Kind, kind, sequence } from "./kinds.ts"
import * as Values from "./values.ts"
import { type Command, names, queues } from "./world.ts"

// Nothing is ever put into this queue, so a claim of it gives a token at any time, which is good for every queue.
const idle = "idle"

const claimNothing = command(fc.constant(undefined), () => ({
  name: "claim",
  args: [{ queue: idle, names: ["n1"], token: "t1", lockDurationMs: 10 }]
}))

const waiting =
  (chosen: ReadonlyArray<string>): Command =>
  ({ state }) => {
    const given = state.wakeTokens.findLast(({ queue }) => queue === idle)
    return given === undefined ? undefined : { _tag: "Call", call: { name: "awaitWake", args: [chosen, given.token] } }
  }

const nothing: Command = () => undefined

const whenPossible =
  (wake: Command, claim: Command): Command =>
  (world) =>
    wake(world) === undefined ? undefined : claim(world)

// Wakes are rare next to enqueues, which leave nobody to be woken: so somebody waits just before, or two.
const awaited = (weight: number, wake: fc.Arbitrary<Command>): Kind => ({
  weight,
  arbitrary: fc
    .tuple(claimNothing, fc.subarray([...queues], { minLength: 1 }), fc.nat({ max: 2 }), wake)
    .map(([claim, chosen, more, wake]) => [
      whenPossible(wake, claim),
      waiting(chosen),
      more === 0 ? waiting(chosen) : nothing,
      wake
    ])
})

// A claim of a queue that has nothing, for its own token: a wait by it is for the names of the claim.
const claimEmpty = command(Values.queue, ({ now, state }, queue) => {
  const isOpen = state.jobs.some(
    ({ record: { queue: its, runAt, state } }) =>
      its === queue && (state === "waiting" || (state === "delayed" && runAt <= now))
  )
  return isOpen ? undefined : { name: "claim", args: [{ queue, names, token: "nobody's", lockDurationMs: 10 }] }
})

const waitOn: Command = ({ state }) => {
  const given = state.wakeTokens.at(-1)
  return given === undefined
    ? undefined
    : { _tag: "Call", call: { name: "awaitWake", args: [[given.queue], given.token] } }
}

// As many jobs as there are waiters, of one name.
const fill = command(Values.name, ({ state }, name) => {
  const queue = state.wakeTokens.at(-1)?.queue
  if (queue === undefined) return undefined
  const request = EnqueueRequest.make({ name, queue })
  return { name: "enqueueMany", args: [[request, request]] }
})

/** Waits, with the latest tokens before all, and what ends them. */
export const waits: ReadonlyArray<Kind> = [
  kind(
    3,
    fc.record({ back: fc.nat({ max: 3 }), queues: Values.mostly(fc.constant([]), 3, fc.subarray([...queues])) }),
    ({ state }, { back, queues }) => {
      const given = state.wakeTokens.at(-1 - back)
      return given === undefined
        ? undefined
        : { name: "awaitWake", args: [queues.length === 0 ? [given.queue] : queues, given.token] }
    }
  ),
  ...[release, promote, retry, replace, resume, recover(1), report, carry, tick, turnedIn].map((wake) =>
    awaited(1, wake)
  ),
  awaited(1, end(Values.outcomeDraft(3))),
  sequence(2, claimEmpty, fc.constant(waitOn), fc.constant(waitOn), fill)
]
