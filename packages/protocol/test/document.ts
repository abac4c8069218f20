/** The protocol's document, read as text: for the tests that compare it with the code. */
import { readFileSync } from "node:fs"

const text = readFileSync(new URL("../../../docs/protocol.md", import.meta.url), "utf8")

/** The text under a heading, up to the next heading of the same or a higher level. */
export const section = (heading: string): string => {
  const level = heading.indexOf(" ")
  const lines = text.split("\n")
  const start = lines.indexOf(heading)
  if (start === -1) throw new Error(`docs/protocol.md has no heading ${heading}`)
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => /^#+ /.test(line) && line.indexOf(" ") <= level)
  return rest.slice(0, end === -1 ? undefined : end).join("\n")
}

/** The rows of the tables in a text, as cells without backticks; rules and headings of tables left out. */
export const rows = (markdown: string): ReadonlyArray<ReadonlyArray<string>> => {
  const lines = markdown.split("\n")
  return lines
    .filter((line, index) => line.startsWith("|") && !isRule(line) && !isRule(lines[index + 1] ?? ""))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("`", ""))
    )
}

const isRule = (line: string): boolean => /^\|[ |:-]+\|$/.test(line)
