/** Bytes as numbered lines, in bounded memory however long the input or one of its lines is. */
import { Stream } from "effect"

/** A line of the input, counted from 1, without its end. */
export interface Line {
  readonly number: number
  readonly text: string
  /** Its length in the input, in bytes. */
  readonly bytes: number
  /** Why it cannot be used; then `text` is empty. */
  readonly problem?: string | undefined
}

/** The longest line that is read. A payload may have 1 MiB; escapes and spaces may make its text longer. */
export const lineLimit = 8_388_608

const newline = 0x0a

/** Cuts a stream of bytes at its newlines. */
class LineCutter {
  #number = 0
  #parts: Array<Uint8Array> = []
  #length = 0

  push(chunk: Uint8Array): ReadonlyArray<Line> {
    const lines: Array<Line> = []
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end))
      lines.push(this.#finish())
      start = end + 1
    }
    this.#add(chunk.subarray(start))
    return lines
  }

  /** What is behind the last newline. */
  end(): ReadonlyArray<Line> {
    return this.#length === 0 ? [] : [this.#finish()]
  }

  #add(part: Uint8Array): void {
    this.#length += part.length
    if (this.#length > lineLimit) this.#parts = []
    else if (part.length > 0) this.#parts.push(part)
  }

  #finish(): Line {
    const line = this.#decode(++this.#number)
    this.#parts = []
    this.#length = 0
    return line
  }

  #decode(number: number): Line {
    const bytes = this.#length
    if (bytes > lineLimit) {
      return { number, text: "", bytes, problem: `has ${bytes} bytes, and the limit is ${lineLimit}` }
    }
    try {
      // A byte order mark is dropped, as `TextDecoder` does by itself.
      return { number, bytes, text: new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(this.#parts)) }
    } catch {
      return { number, bytes, text: "", problem: "is not UTF-8 text" }
    }
  }
}

/** The lines of the bytes. Empty lines are left out, but counted. */
export const lines = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Line, E, R> =>
  bytes.pipe(
    Stream.mapAccum(
      () => new LineCutter(),
      (cutter, chunk) => [cutter, cutter.push(chunk)] as const,
      { onHalt: (cutter) => cutter.end() }
    ),
    Stream.filter(({ problem, text }) => problem !== undefined || text.trim() !== "")
  )
