/** Text for a terminal. What comes from a job is somebody else's: it must not be able to steer the terminal. */
import { CliOutput } from "effect/cli"

// Control characters but tab and newline, and the marks that reverse the direction of text.
// oxlint-disable-next-line no-control-regex
const steering = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

const escapeCharacter = (character: string): string =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`

/** The text with everything that could steer a terminal shown as `\uXXXX`; tabs and newlines stay. */
export const printable = (text: string): string => text.replace(steering, escapeCharacter)

/** Like {@link printable}, on one line. */
export const oneLine = (text: string): string => printable(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t")

/** The columns a printable text takes. */
export const width = (text: string): number => CliOutput.displayWidth(text)

/** The text cut to that many columns, with `…` where it was cut. */
export const cut = (text: string, columns: number): string => {
  if (width(text) <= columns) return text
  let kept = ""
  let used = 0
  for (const character of text) {
    used += width(character)
    if (used > columns - 1) break
    kept += character
  }
  return `${kept}…`
}

/** Every line of the text behind the same spaces. */
export const indent = (text: string, spaces: number): string => {
  const prefix = " ".repeat(spaces)
  return text
    .split("\n")
    .map((line) => prefix + line)
    .join("\n")
}

/** `1 job`, `2 jobs`. */
export const plural = (count: number, noun: string): string =>
  `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`
