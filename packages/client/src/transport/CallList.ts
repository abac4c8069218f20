/** Calls without an answer, in the order of age: a deadline that is the same for all is due at the head or nowhere. */

/** A call without an answer. */
export interface OpenCall {
  /** Which RPC client made it. */
  readonly clientId: number
  readonly id: string | number
  /** The encoded message. */
  readonly message: string
  /** No deadline holds for it once it is sent. */
  readonly openEnded: boolean
}

interface Entry {
  readonly call: OpenCall
  readonly since: number
}

/** A list of calls. Times are milliseconds of a clock that only grows. */
export class CallList {
  readonly #entries = new Map<string | number, Entry>()

  get size(): number {
    return this.#entries.size
  }

  /** Since when the oldest call is here. */
  get oldest(): number | undefined {
    return this.#entries.values().next().value?.since
  }

  add(call: OpenCall, since: number): void {
    this.#entries.set(call.id, { call, since })
  }

  /** Takes out a call, if it is here. */
  take(id: string | number): OpenCall | undefined {
    const entry = this.#entries.get(id)
    if (entry !== undefined) this.#entries.delete(id)
    return entry?.call
  }

  /** Takes out all calls that are here since that time or longer. */
  takeSince(time: number): ReadonlyArray<OpenCall> {
    const taken: Array<OpenCall> = []
    for (const { call, since } of this.#entries.values()) {
      if (since > time) break
      this.#entries.delete(call.id)
      taken.push(call)
    }
    return taken
  }

  takeAll(): ReadonlyArray<OpenCall> {
    return this.takeSince(Number.POSITIVE_INFINITY)
  }
}
