/** How figures are written. */
import { median } from "./Results.ts"

/** A rate: whole numbers in thousands. */
export const rate = (value: number): string => Math.round(value).toLocaleString("en")

/** Milliseconds: two figures that count. */
export const milliseconds = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(2)))

/** A ratio. */
export const ratio = (value: number): string => value.toPrecision(value >= 100 ? 3 : 2)

/** Whether a figure is a time; all others are rates. */
export const isTime = (figure: string): boolean => figure.startsWith("wake@")

/** The median of a figure. */
export const figureText = (figure: string, values: ReadonlyArray<number>): string =>
  (isTime(figure) ? milliseconds : rate)(median(values))

/** A table in Markdown; nothing when it has no rows. The first column is text, the others are numbers unless their head says `what`. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  if (rows.length === 0) return ""
  return [head, head.map((title, index) => (index === 0 || title === "what" ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n")
}
