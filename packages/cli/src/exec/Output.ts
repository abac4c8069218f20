/** What a program writes, kept in bounded memory. */

/** Keeps a stream of bytes whole up to a limit; past it, only the last part. */
export class Output {
  readonly #limit: number
  readonly #tail: number
  #chunks: Array<Buffer> = []
  #kept = 0
  #written = 0

  /** `limit` bytes are kept whole; of more than that, at least the last `tail` bytes. */
  constructor(limit: number, tail: number) {
    this.#limit = limit
    this.#tail = tail
  }

  /** Takes the next bytes. */
  push(chunk: Buffer): void {
    this.#written += chunk.length
    this.#chunks.push(chunk)
    this.#kept += chunk.length
    if (this.isWhole) return
    while (this.#chunks.length > 1 && this.#kept - (this.#chunks[0]?.length ?? 0) >= this.#tail) {
      this.#kept -= this.#chunks.shift()?.length ?? 0
    }
  }

  /** How many bytes were written in all. */
  get bytes(): number {
    return this.#written
  }

  /** Whether every byte is still there. */
  get isWhole(): boolean {
    return this.#written <= this.#limit
  }

  /** Every byte as text, or the tail when that was too much. Bytes that are not UTF-8, and NUL, become `\uFFFD`. */
  text(): string {
    const bytes = Buffer.concat(this.#chunks)
    if (this.isWhole) return decode(bytes)
    // The cut may have gone through a character.
    return decode(bytes.subarray(-this.#tail)).replace(/^\uFFFD+/, "")
  }

  /** The last `bytes` of the text at most. */
  tail(bytes: number): string {
    const all = Buffer.concat(this.#chunks)
    if (all.length <= bytes) return this.text()
    return decode(all.subarray(-bytes)).replace(/^\uFFFD+/, "")
  }
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replaceAll("\u0000", "\uFFFD")
