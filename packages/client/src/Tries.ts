/**
 * The tries of one call. All go under one key, so that the server carries the call out once however many of them arrive, and answers
 * the last as it would have answered the first.
 */
import { Call, JobStoreError, type OperationName, operations } from "@jobwire/protocol"
import { Effect } from "effect"
import { backOff, insist } from "./Patience.ts"

/** The headers of every try of a new call. */
export type Headers = Readonly<Record<string, string>>

/** How a call is tried. */
export interface Trying {
  /** For how long, in milliseconds since the first try, another one is made. */
  readonly forMs: number
  /** Whether there is anything left to try with. */
  readonly isOpen: () => boolean
}

// What a second delivery does not change needs no key.
const headersOf = (name: OperationName, given: string | undefined): Headers =>
  operations[name].repeat === "safe" ? {} : { [Call.header]: given ?? Call.drawKey() }

/**
 * Makes a call until it is answered. Fails by an error that another try does not help, or when time is up; then the error says
 * whether one of the tries may have been carried out.
 */
export const tried = (
  name: OperationName,
  attempt: (headers: Headers) => Effect.Effect<unknown, unknown>,
  { forMs, isOpen }: Trying
): Effect.Effect<unknown, unknown> =>
  Effect.withFiber((fiber) => {
    // A caller may have a key of his own, as a server whose store is on another server.
    const headers = headersOf(name, fiber.getRef(Call.CurrentCall))
    const told = { mayHaveHappened: false }
    const isWorthIt = (error: unknown) => {
      if (!(error instanceof JobStoreError) || !error.isRetryable || !isOpen()) return false
      told.mayHaveHappened ||= error.mayHaveHappened
      return true
    }
    const again = Effect.andThen(
      backOff(0),
      Effect.suspend(() => insist(attempt(headers), { while: isWorthIt, hintOf, forMs }))
    )
    // Most calls need one try, which costs nothing more.
    return Effect.catch(attempt(headers), (first) =>
      isWorthIt(first)
        ? Effect.mapError(again, (last) =>
            told.mayHaveHappened && last instanceof JobStoreError && !last.mayHaveHappened ? doubtful(last) : last
          )
        : Effect.fail(first)
    )
  })

const hintOf = (error: unknown): number | undefined =>
  error instanceof JobStoreError && error.reason._tag === "Unavailable" ? error.reason.retryAfterMs : undefined

const doubtful = ({ message, reason }: JobStoreError): JobStoreError =>
  new JobStoreError({
    message: `${message}; an earlier try of the same call may have been carried out`,
    reason: reason._tag === "Unavailable" ? { ...reason, sent: true } : { _tag: "OutcomeUnknown" }
  })
