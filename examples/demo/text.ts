/** What the demo finds out about a text. */
import { Schema } from "effect"

/** The number of words and the longest line of a text. */
export const TextReport = Schema.Struct({
  words: Schema.Int,
  longestLine: Schema.Struct({ number: Schema.Int, length: Schema.Int })
})
export type TextReport = typeof TextReport.Type

/** Counts words (runs of letters, digits and apostrophes) and finds the longest line, the first of equals. */
export const report = (text: string): TextReport => {
  const words = text.match(/[\p{L}\p{N}']+/gu)?.length ?? 0
  let longestLine = { number: 1, length: 0 }
  for (const [index, line] of text.split("\n").entries()) {
    if (line.length > longestLine.length) longestLine = { number: index + 1, length: line.length }
  }
  return { words, longestLine }
}
