/** What the command says when something went wrong, and the exit code it ends with. */
import {
  JobNotCancellableError,
  JobNotFoundError,
  JobNotPromotableError,
  JobNotRetryableError,
  JobStoreError,
  LockLostError
} from "@jobwire/protocol"
import { Data } from "effect"
import { ProgramStartError } from "../exec/Program.ts"
import * as ExitCode from "../ExitCode.ts"
import { printable } from "./Text.ts"

/** An expected failure: `message` says what and where, `hint` what to do. */
export class CommandFailure extends Data.TaggedError("CommandFailure")<{
  readonly message: string
  readonly hint?: string | undefined
  readonly exitCode?: number | undefined
}> {}

/** The command has said all there is to say, on stderr or in its result; only the exit code is left. */
export class AlreadyReported extends Data.TaggedError("AlreadyReported")<{ readonly exitCode: number }> {}

const storeErrors = [
  JobNotFoundError,
  JobNotRetryableError,
  JobNotCancellableError,
  JobNotPromotableError,
  LockLostError
] as const

/** Every error of the store's operations. */
export type StoreFailure = JobStoreError | InstanceType<(typeof storeErrors)[number]>

/** An error as it is shown: to people as lines, to programs as an object. */
export interface Shown {
  readonly kind: string
  readonly message: string
  readonly hint?: string | undefined
  readonly exitCode: number
}

const showStoreError = (error: JobStoreError): Shown => {
  const shown = { kind: error.reason._tag, message: error.message }
  switch (error.reason._tag) {
    case "Unauthorized":
      return { ...shown, hint: "give a token by JOBWIRE_TOKEN or --token", exitCode: ExitCode.credentials }
    case "Forbidden":
      return { ...shown, hint: "this needs a token with another scope", exitCode: ExitCode.credentials }
    case "Unavailable":
      return {
        ...shown,
        hint: "is the server running? `jobwire serve` starts one; --url or JOBWIRE_URL say where it is",
        exitCode: ExitCode.unreachable
      }
    default:
      return { ...shown, exitCode: error.isRetryable ? ExitCode.unreachable : ExitCode.failed }
  }
}

const isStoreFailure = (error: unknown): error is Exclude<StoreFailure, JobStoreError> =>
  storeErrors.some((each) => error instanceof each)

/** The error as it is shown. One that is not expected is a fault of the command, and shows where it happened. */
export const show = (error: unknown): Shown => {
  if (error instanceof JobStoreError) return showStoreError(error)
  if (isStoreFailure(error)) return { kind: error._tag, message: error.message, exitCode: ExitCode.failed }
  if (error instanceof CommandFailure) {
    const { exitCode = ExitCode.failed, hint, message } = error
    return { kind: exitCode === ExitCode.usage ? "Usage" : "Failed", message, hint, exitCode }
  }
  if (error instanceof ProgramStartError) {
    return { kind: error._tag, message: error.message, hint: "no attempt was spent", exitCode: ExitCode.failed }
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { kind: "Defect", message: `a fault in jobwire itself: ${trace}`, exitCode: ExitCode.failed }
}

/** For stderr: lines for people, or one line of JSON. */
export const render = (shown: Shown, json: boolean): string => {
  const { hint, kind, message } = shown
  if (json) return JSON.stringify({ error: hint === undefined ? { kind, message } : { kind, message, hint } })
  return printable(hint === undefined ? `jobwire: ${message}` : `jobwire: ${message}\n  ${hint}`)
}
