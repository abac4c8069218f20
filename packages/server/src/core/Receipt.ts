/**
 * What is remembered of calls beyond what jobs themselves remember: answers under the keys of calls, and of jobs that are deleted while
 * copies of the calls about them may still be on their way.
 */
import type { Ack } from "@jobwire/protocol"
import type { JobRow } from "./JobRow.ts"

/** How long the answer of a call is kept, in milliseconds of the store's clock. A caller tries again for far less. */
export const keptForMs = 600_000

/**
 * How long a deleted job is remembered: by far longer than copies of calls are on their way, but where every job is deleted as it ends
 * there are many.
 */
export const deletedForMs = 60_000

/** One receipt. */
export interface ReceiptRow {
  readonly key: string
  /** The digest of what was asked under the key; empty where the key says it all. */
  readonly body: string
  /** JSON text. */
  readonly answer: string
  /** Until when it holds, in epoch milliseconds. */
  readonly expiresAt: number
}

/** The key of the answer of a call. */
export const callKey = (call: string): string => `call ${call}`

/** The key of what is remembered of a deleted job. */
export const jobKey = (id: string): string => `job ${id}`

/** An ack of a call that may have several of one job. */
export interface AckItem extends Ack {
  /** How many acks of the same job the call has before it. */
  readonly before: number
}

/** The acks of a call with their numbers among those of the same job. */
export const ackItems = (acks: ReadonlyArray<Ack>): ReadonlyArray<AckItem> => {
  const counts = new Map<string, number>()
  return acks.map((ack) => {
    const before = counts.get(ack.id) ?? 0
    counts.set(ack.id, before + 1)
    return { ...ack, before }
  })
}

/** The key of what is remembered of an ack in a call. */
export const ackKey = (call: string, { before, id }: AckItem): string => `ack ${call} ${before} ${id}`

/** Whether it holds still. */
export const holds = (receipt: ReceiptRow | undefined, now: number): receipt is ReceiptRow =>
  receipt !== undefined && now < receipt.expiresAt

/** A receipt that holds from now on. */
export const receipt = (key: string, body: string, answer: string, now: number, forMs = keptForMs): ReceiptRow => ({
  key,
  body,
  answer,
  expiresAt: now + forMs
})

/** Whether copies of calls about a job that is deleted now may still be on their way. */
export const isYoung = (row: JobRow, now: number): boolean => now - (row.finishedAt ?? row.enqueuedAt) < deletedForMs

/** What is remembered of a job that is deleted young: what it remembered of the enqueue that made it. */
export const ofDeleted = (row: JobRow, now: number): ReceiptRow =>
  receipt(jobKey(row.id), row.call ?? "", "", now, deletedForMs)

const ackBody = ({ outcome, token }: Ack): string => `${outcome._tag} ${token}`

/** What is remembered of an ack by which its job was deleted. */
export const ofAck = (call: string, ack: AckItem, now: number): ReceiptRow =>
  receipt(ackKey(call, ack), ackBody(ack), "", now, deletedForMs)

/** Whether this is what is remembered of the same ack. */
export const isOfAck = (found: ReceiptRow | undefined, ack: Ack, now: number): boolean =>
  holds(found, now) && found.body === ackBody(ack)
