/**
 * Which jobs nobody got of those that claims took: one decision for all calls of a token that overlap.
 *
 * A client that lost its connection repeats its claim, with the same token, by another connection, often before the server sees that
 * the first is gone. Both calls give the same job. So it is given back only when the last of them has ended and none was delivered;
 * and only if one of them took it, for what an earlier claim took, an earlier caller may be running.
 */

/** A job that a claim gave. */
export interface Given {
  readonly id: string
  /** When the claim that took it began, in epoch milliseconds. */
  readonly processedAt?: number | undefined
}

/** The calls of one token that overlap. */
interface Talk {
  calls: number
  /** When the first of them began, in epoch milliseconds. */
  readonly since: number
  /** The job that a caller has. */
  delivered: string | undefined
  /** The job that one of them took, and that no caller has. */
  owed: string | undefined
}

// A repeat may come in the very millisecond in which the job was delivered, and then its times do not tell them apart.
const rememberedMs = 1000

/** The talks of the tokens of one store. */
export class ClaimTalks {
  readonly #talks = new Map<string, Talk>()
  // What was delivered of late, in two generations.
  #delivered = new Map<string, string>()
  #deliveredBefore = new Map<string, string>()
  #turnedAt = performance.now()

  /** A call begins, at `now` on the store's clock. */
  begin(key: string, now: number): void {
    const talk = this.#talks.get(key)
    if (talk !== undefined) return void talk.calls++
    this.#talks.set(key, { calls: 1, since: now, delivered: this.#lately(key), owed: undefined })
  }

  /** A call has ended with this job, or none. Answers with the id of the job that is to be given back now, if there is one. */
  end(key: string, given: Given | undefined, wasDelivered: boolean): string | undefined {
    const talk = this.#talks.get(key)
    if (talk === undefined) return undefined
    if (given !== undefined) note(talk, given, wasDelivered)
    if (--talk.calls > 0) return undefined
    this.#talks.delete(key)
    if (talk.delivered !== undefined) this.#remember(key, talk.delivered)
    return talk.owed
  }

  /** How many tokens are talked about now. */
  get size(): number {
    return this.#talks.size
  }

  #lately(key: string): string | undefined {
    this.#turn()
    return this.#delivered.get(key) ?? this.#deliveredBefore.get(key)
  }

  #remember(key: string, id: string): void {
    this.#turn()
    this.#delivered.set(key, id)
  }

  #turn(): void {
    const past = performance.now() - this.#turnedAt
    if (past < rememberedMs) return
    this.#deliveredBefore = past < 2 * rememberedMs ? this.#delivered : new Map()
    this.#delivered = new Map()
    this.#turnedAt += past
  }
}

const note = (talk: Talk, { id, processedAt }: Given, wasDelivered: boolean): void => {
  if (wasDelivered) {
    talk.delivered = id
    if (talk.owed === id) talk.owed = undefined
  } else if (id !== talk.delivered && processedAt !== undefined && processedAt >= talk.since) {
    talk.owed = id
  }
}
