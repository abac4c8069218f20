/** One history on a store and on the model at once. */
import { JobStore } from "@jobwire/protocol"
import { Clock, Context, Effect, Exit, Layer, Result, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Call, CallOf } from "./answers.ts"
import { answerOf, differenceOf } from "./compare.ts"
import type { Seen } from "./coverage/seen.ts"
import { epilogue, look } from "./histories/histories.ts"
import type { Action, Turn } from "./histories/world.ts"
import { readable, showAnswer, showCall } from "./show.ts"
import { empty, type State } from "./state.ts"
import { step } from "./step.ts"
import * as Waiters from "./waiters.ts"

/** Where the store of one history is: every time the layer is built, the same store is opened. */
export type Home = Effect.Effect<Layer.Layer<JobStore.JobStore, unknown>, unknown, Scope.Scope>

/** Who is told what happens. */
export interface Observer {
  readonly seen: (seen: Seen) => void
  readonly waits: Waiters.WaitCounts
}

/** A store does not answer as the model does. The message has the whole history. */
export class Difference extends Error {}

/** When every history begins. */
export const start = Date.UTC(2025, 5, 1)

interface Open {
  readonly store: JobStore.Service
  readonly scope: Scope.Closeable
  readonly waiters: Waiters.Waiters
}

// Under the uppermost scope, so that a history that ends early leaves nothing open.
const open = Effect.fnUntraced(function* (
  layer: Layer.Layer<JobStore.JobStore, unknown>,
  state: State,
  { waits }: Observer
) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const store = Context.get(yield* Layer.buildWithScope(layer, scope), JobStore.JobStore)
  const opened: Open = { store, scope, waiters: Waiters.make(store, yield* Scope.fork(scope), state, waits) }
  return opened
})

// Every method gives an effect; which arguments it takes, the call has from its type.
const invoke = (store: JobStore.Service, { args, name }: Call): Effect.Effect<unknown, unknown> =>
  (store[name] as (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>)(...args)

// An enqueue that wakes without a new job is one that replaced.
const causeOf = ({ name }: Call, before: State, after: State): string =>
  name === "enqueue" && before.jobs.length === after.jobs.length ? "replace" : name

/** Runs a history, and then what ends every one. Dies of a {@link Difference}. */
export const run = Effect.fnUntraced(function* (home: Home, history: ReadonlyArray<Turn>, observer: Observer) {
  yield* TestClock.setTime(start)
  const layer = yield* home
  const lines: Array<() => string> = []
  let state = empty
  let opened = yield* open(layer, state, observer)

  const differ = (line: string, difference: string) =>
    Effect.die(new Difference(readable([...lines.map((show) => show()), line, `  ${difference}`], start)))

  const wait = Effect.fnUntraced(function* (call: CallOf<"awaitWake">) {
    const [queues, token] = call.args
    const waited = yield* Effect.result(opened.waiters.wait(state, { queues, token }))
    if (Result.isFailure(waited)) return yield* differ(showCall(call), waited.failure.problem)
    lines.push(() => `${showCall(call)}  ${waited.success}`)
  })

  const compare = Effect.fnUntraced(function* (call: Call, exit: Exit.Exit<unknown, unknown>, isShown: boolean) {
    const now = yield* Clock.currentTimeMillis
    const answer = answerOf(exit)
    const before = state
    const [after, expected] = step(before, now, call, answer._tag === "Success" ? answer.value : undefined)
    const line = () => `${showCall(call)}  → ${showAnswer(answer)}`
    const difference = differenceOf(call.name, expected, answer)
    if (difference !== undefined) return yield* differ(line(), difference)
    if (isShown) lines.push(line)
    state = after
    observer.seen({ call, answer, before, after, now })
    const wakes = after.wakes.slice(before.wakes.length)
    const ended = yield* Effect.result(opened.waiters.see(after, wakes, causeOf(call, before, after)))
    if (Result.isFailure(ended)) yield* differ("", ended.failure.problem)
  })

  // All at once: nothing of it depends on the rest.
  const lookAround = Effect.fnUntraced(function* () {
    const calls = look({ state, now: yield* Clock.currentTimeMillis })
    const exits = yield* Effect.forEach(calls, (call) => Effect.exit(invoke(opened.store, call)), { concurrency: 8 })
    for (const [index, exit] of exits.entries()) {
      const call = calls[index]
      if (call !== undefined) yield* compare(call, exit, false)
    }
  })

  const act = Effect.fnUntraced(function* (action: Action) {
    switch (action._tag) {
      case "Call":
        return action.call.name === "awaitWake"
          ? yield* wait(action.call)
          : yield* compare(action.call, yield* Effect.exit(invoke(opened.store, action.call)), true)
      case "Pass": {
        const now = yield* Clock.currentTimeMillis
        lines.push(() => `… ${action.to - now} ms`)
        return yield* TestClock.setTime(action.to)
      }
      case "Reopen":
        lines.push(() => "… the store is closed and opened again")
        yield* Scope.close(opened.scope, Exit.void)
        opened = yield* open(layer, state, observer)
        return
      case "Look":
        return yield* lookAround()
    }
  })

  for (const turn of [...history, [epilogue]]) {
    const world = { state, now: yield* Clock.currentTimeMillis }
    for (const command of turn.find(([first]) => first?.(world) !== undefined) ?? []) {
      const action = command({ state, now: yield* Clock.currentTimeMillis })
      if (action !== undefined) yield* act(action)
    }
  }
})
