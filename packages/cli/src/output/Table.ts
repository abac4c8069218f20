/** Tables that fit a terminal. */
import { Context } from "effect"
import { cut, oneLine, width } from "./Text.ts"

/** A column: its heading, how it is aligned, and the fewest columns it may be cut to (absent: never cut). */
export interface Column {
  readonly heading: string
  readonly align?: "left" | "right"
  readonly shrinkTo?: number
}

/** How many columns a table may take: those of the terminal, or no limit when stdout is none. */
export const TerminalWidth = Context.Reference<number>("jobwire/TerminalWidth", {
  defaultValue: () => (process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY)
})

const gap = 2

/** Takes from the widest column that may still shrink, until the table fits or none may. */
const fit = (columns: ReadonlyArray<Column>, natural: ReadonlyArray<number>, limit: number): ReadonlyArray<number> => {
  const widths = [...natural]
  const spare = (index: number) => (widths[index] ?? 0) - (columns[index]?.shrinkTo ?? Number.POSITIVE_INFINITY)
  let excess = widths.reduce((sum, each) => sum + each, 0) + gap * (widths.length - 1) - limit
  while (excess > 0) {
    let widest = -1
    for (let index = 0; index < widths.length; index++) {
      if (spare(index) > 0 && (widest === -1 || (widths[index] ?? 0) > (widths[widest] ?? 0))) widest = index
    }
    if (widest === -1) break
    widths[widest] = (widths[widest] ?? 0) - 1
    excess--
  }
  return widths
}

const pad = (text: string, columns: number, align: "left" | "right" = "left"): string => {
  const spaces = " ".repeat(Math.max(0, columns - width(text)))
  return align === "right" ? spaces + text : text + spaces
}

/** The rows below their headings, as one text of lines that are no wider than `limit` where the columns allow it. */
export const table = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  limit: number
): string => {
  const lines = [columns.map(({ heading }) => heading), ...rows.map((row) => row.map(oneLine))]
  const natural = columns.map((_, index) => lines.reduce((most, line) => Math.max(most, width(line[index] ?? "")), 0))
  const widths = fit(columns, natural, limit)
  return lines
    .map((line) =>
      columns
        .map((column, index) => pad(cut(line[index] ?? "", widths[index] ?? 0), widths[index] ?? 0, column.align))
        .join(" ".repeat(gap))
        .trimEnd()
    )
    .join("\n")
}
