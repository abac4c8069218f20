/**
 * The process groups of running programs. Each program leads a group of its own, so that stopping it stops what it
 * started too.
 */
import { Clock, Effect } from "effect"
import * as Guard from "./Guard.ts"

const groups = new Set<number>()

const killAll = (): void => {
  for (const group of groups) signal(group, "SIGKILL")
}

/** Remembers a group that must not outlive this process. */
export const remember = (group: number): void => {
  if (groups.size === 0) process.once("exit", killAll)
  groups.add(group)
  Guard.watch(group)
}

const forget = (group: number): void => {
  groups.delete(group)
  Guard.unwatch(group)
  if (groups.size === 0) process.off("exit", killAll)
}

/** Sends a signal to every process of the group; false when there is none left. */
export const signal = (group: number, name: NodeJS.Signals | 0): boolean => {
  try {
    process.kill(-group, name)
    return true
  } catch {
    return false
  }
}

const pollMs = 20

/**
 * Ends what the leader left behind when it ended: TERM, and KILL after `graceMs`. Returns at once when nothing is left,
 * which is the rule.
 */
export const end = Effect.fnUntraced(function* (group: number, graceMs: number) {
  // A number that was forgotten may be another group's by now.
  if (!groups.has(group)) return
  if (!signal(group, "SIGTERM")) return forget(group)
  const deadline = (yield* Clock.currentTimeMillis) + graceMs
  while ((yield* Clock.currentTimeMillis) < deadline) {
    yield* Effect.sleep(pollMs)
    if (!signal(group, 0)) return forget(group)
  }
  signal(group, "SIGKILL")
  forget(group)
})
