/** What an application may choose about an embedded store, whichever driver keeps it. */
import { type EnqueueRequest, TerminalState } from "@jobwire/protocol"
import { Duration, type Effect, Schema } from "effect"
import type { HistoryTtl } from "../../core/Retention.ts"

/** Draws the id of a job that its producer gave none. It may be an effect; it may not fail. */
export interface IdGenerator {
  (request: EnqueueRequest): string | Effect.Effect<string>
}

/** Options of an embedded store. */
export interface StoreOptions {
  /** How long finished jobs are kept at most: one duration for all, or one a terminal state. Forever unless given. */
  readonly historyTtl?: Duration.Input | Partial<Readonly<Record<TerminalState, Duration.Input>>> | undefined
  /** How often the store looks for finished jobs and dedupe windows that are over. One minute unless given. */
  readonly historySweepInterval?: Duration.Input | undefined
  /** Random ids that grow with time unless given. */
  readonly idGenerator?: IdGenerator | undefined
}

const isByState = (
  input: NonNullable<StoreOptions["historyTtl"]>
): input is Partial<Readonly<Record<TerminalState, Duration.Input>>> =>
  typeof input === "object" && Object.keys(input).every((key) => Schema.is(TerminalState)(key))

/** The ceiling in milliseconds a terminal state; `undefined` when nothing is ever swept. */
export const historyTtlMs = (input: StoreOptions["historyTtl"]): HistoryTtl | undefined => {
  if (input === undefined) return undefined
  if (!isByState(input)) {
    const ms = Duration.toMillis(Duration.fromInputUnsafe(input))
    return { completed: ms, failed: ms, cancelled: ms }
  }
  const ttl: Partial<Record<TerminalState, number>> = {}
  for (const state of TerminalState.literals) {
    const duration = input[state]
    if (duration !== undefined) ttl[state] = Duration.toMillis(Duration.fromInputUnsafe(duration))
  }
  return ttl
}
