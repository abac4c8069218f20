/** How far a long load has come, on stderr: a line that is written over on a terminal, else a line every few seconds. */
import { Clock, Effect } from "effect"
import { formatDuration } from "../flags/Duration.ts"
import { describeProgress, type LoadProgress } from "./Load.ts"

/** What is known about the input. */
export interface Input {
  bytesRead: number
  /** Absent for a pipe. */
  readonly bytesTotal: number | undefined
}

const describe = (progress: LoadProgress, input: Input, elapsedMs: number): string => {
  const { bytesRead, bytesTotal } = input
  const share = bytesTotal === undefined || bytesTotal === 0 ? "" : `${Math.floor((100 * bytesRead) / bytesTotal)}%  `
  const sent = progress.enqueued + progress.duplicates
  const rate = Math.round((1000 * sent) / Math.max(1, elapsedMs)).toLocaleString("en-US")
  return `${share}${describeProgress(progress)}, ${rate}/s, ${formatDuration(elapsedMs)}`
}

const everyMs = { terminal: 200, other: 5000 }

/** Shows the progress while the effect runs. */
export const showProgress =
  (progress: LoadProgress, input: Input) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.gen(function* () {
      const isTerminal = process.stderr.isTTY === true
      const began = yield* Clock.currentTimeMillis
      const show = Effect.map(Clock.currentTimeMillis, (now) => {
        const text = describe(progress, input, now - began)
        process.stderr.write(isTerminal ? `\r\u001B[K${text}` : `${text}\n`)
      })
      const ticks = Effect.forever(Effect.andThen(Effect.sleep(isTerminal ? everyMs.terminal : everyMs.other), show))
      const clear = Effect.sync(() => {
        if (isTerminal) process.stderr.write("\r\u001B[K")
      })
      return yield* Effect.ensuring(Effect.raceFirst(effect, ticks), clear)
    })
