/** Calls and answers as data. */
import type { AckOutcome, JobState, JobStore, OperationName, Success } from "@jobwire/protocol"
import type { State } from "./state.ts"

/** The arguments of an operation, as its method takes them. */
type Arguments<Name extends OperationName> = Readonly<Parameters<JobStore.Service[Name]>>

/** A call of one operation. */
export type CallOf<Name extends OperationName> = { readonly name: Name; readonly args: Arguments<Name> }

/** A call of any operation. */
export type Call = { readonly [Name in OperationName]: CallOf<Name> }[OperationName]

/** An error as far as the contract says it: without its message. */
export type Problem =
  | { readonly _tag: "JobNotFoundError" | "LockLostError"; readonly jobId: string }
  | {
      readonly _tag: "JobNotRetryableError" | "JobNotCancellableError" | "JobNotPromotableError"
      readonly jobId: string
      readonly state: JobState
    }
  | { readonly _tag: "JobStoreError"; readonly reason: { readonly _tag: string; readonly field?: string } }

/** What an operation answers: a value or an error. */
export type Answer<A> =
  | { readonly _tag: "Success"; readonly value: A }
  | { readonly _tag: "Failure"; readonly error: Problem }

/** The state afterwards, and the answer. */
export type Stepped<A> = readonly [state: State, answer: Answer<A>]

/**
 * A step of the model. `told` is what the store has answered, for what only a store knows: an id that it drew, a token, a
 * cursor, which of several equal rows it took. Without it the model makes such things up.
 */
export interface Step<Name extends OperationName> {
  (state: State, now: number, args: Arguments<Name>, told: Success<Name> | undefined): Stepped<Success<Name>>
}

/** The call has succeeded. */
export const succeed = <A>(state: State, value: A): Stepped<A> => [state, { _tag: "Success", value }]

/** The call has failed, and nothing has happened. */
export const fail = (state: State, error: Problem): Stepped<never> => [state, { _tag: "Failure", error }]

/** The call was refused for this argument. */
export const refuse = (state: State, field: string): Stepped<never> =>
  fail(state, { _tag: "JobStoreError", reason: { _tag: "InvalidArgument", field } })

/** No job has this id. */
export const notFound = (state: State, jobId: string): Stepped<never> =>
  fail(state, { _tag: "JobNotFoundError", jobId })

/** The token does not hold the job. */
export const lockLost = (state: State, jobId: string): Stepped<never> => fail(state, { _tag: "LockLostError", jobId })

/** The exit that an outcome carries. */
export const exitOf = (outcome: AckOutcome): unknown => ("exit" in outcome ? outcome.exit : undefined)
