/** Words of the contract as the small integers that columns hold. The order is part of the format: only append. */
import type { AttemptOutcome, FlowChildStatus, JobState, TerminalState } from "@jobwire/protocol"
import type { AttemptRow } from "../../core/JobRow.ts"

/** Two ways between the words of a kind and their numbers. */
interface Codes<Word extends string> {
  readonly words: ReadonlyArray<Word>
  readonly code: (word: Word) => number
  readonly word: (code: number) => Word
}

const codes = <Word extends string>(words: ReadonlyArray<Word>): Codes<Word> => {
  const numbers = new Map(words.map((word, index) => [word, index]))
  return {
    words,
    // The map has every word of its type.
    code: (word) => numbers.get(word) as number,
    word: (code) => {
      const word = words[code]
      if (word === undefined) throw new Error(`the database holds the code ${code}, which stands for none of ${words}`)
      return word
    }
  }
}

/** States of a job. Those from 4 on are finished; partial indexes name these numbers. */
export const states = codes<JobState>([
  "waiting",
  "delayed",
  "active",
  "waiting-children",
  "completed",
  "failed",
  "cancelled"
])

/** The finished states. */
export const terminalStates: ReadonlyArray<TerminalState> = ["completed", "failed", "cancelled"]

/** How runs ended. */
export const outcomes = codes<AttemptOutcome>(["completed", "retried", "failed", "stalled", "cancelled", "fanned-out"])

/** What workers sent. */
export const acks = codes<NonNullable<AttemptRow["acked"]>>(["Complete", "Fail", "Retry", "Cancelled", "FanOut"])

/** Where children stand; partial indexes name these numbers. */
export const childStatuses = codes<FlowChildStatus>(["pending", "completed", "failed", "cancelled"])
