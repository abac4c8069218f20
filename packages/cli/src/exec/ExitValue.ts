/**
 * How the end of a program is kept as the exit of a job.
 *
 * The shape is that of an Effect `Exit` in JSON, so that a producer written with Effect reads the result of a program as
 * it reads that of a handler:
 *
 * - success: `{"_tag": "Success", "value": RESULT}`
 * - failure: `{"_tag": "Failure", "cause": [{"_tag": "Die", "defect": {"name", "message", …}}]}`, where the defect also has
 *   `exitCode` or `signal`, `stderr` (its tail), and `timedOut` when that was the reason.
 */
import { Option, Schema } from "effect"

/** Why a run failed. `message` is for people and for readers that know nothing of programs. */
export interface ProgramFault {
  readonly message: string
  readonly exitCode?: number | undefined
  readonly signal?: string | undefined
  readonly timedOut?: boolean | undefined
  /** The last part of what the program wrote to stderr. */
  readonly stderr: string
}

/** The exit of a run that succeeded. */
export const successExit = (value: unknown): unknown => ({ _tag: "Success", value })

/** The exit of a run that failed. */
export const failureExit = (fault: ProgramFault): unknown => {
  const { exitCode, message, signal, stderr, timedOut } = fault
  const defect = {
    name: "ProgramFailed",
    message,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
    ...(timedOut === true ? { timedOut } : {}),
    stderr
  }
  return { _tag: "Failure", cause: [{ _tag: "Die", defect }] }
}

const Success = Schema.Struct({ _tag: Schema.Literal("Success"), value: Schema.optionalKey(Schema.Unknown) })

const Reason = Schema.Struct({
  _tag: Schema.String,
  error: Schema.optionalKey(Schema.Unknown),
  defect: Schema.optionalKey(Schema.Unknown)
})

const Failure = Schema.Struct({ _tag: Schema.Literal("Failure"), cause: Schema.Array(Reason) })

const Described = Schema.Struct({ message: Schema.String, stderr: Schema.optionalKey(Schema.String) })

const decodeSuccess = Schema.decodeUnknownOption(Success)
const decodeFailure = Schema.decodeUnknownOption(Failure)
const decodeDescribed = Schema.decodeUnknownOption(Described)

/** An exit for people: a line, and all of it. */
export interface ReadExit {
  readonly summary: string
  readonly details: string
}

const readReason = ({ _tag, defect, error }: typeof Reason.Type): ReadExit => {
  const value = defect ?? error
  const described = decodeDescribed(value)
  if (Option.isNone(described)) {
    const text = value === undefined ? _tag : JSON.stringify(value)
    return { summary: text, details: text }
  }
  const { message, stderr = "" } = described.value
  return { summary: message, details: stderr === "" ? message : `${message}\n\nstderr\n${stderr}` }
}

/** Reads any exit: one of a program, one of an Effect handler, or any other JSON. */
export const readExit = (exit: unknown): ReadExit => {
  const success = decodeSuccess(exit)
  if (Option.isSome(success)) {
    const { value } = success.value
    const details = typeof value === "string" ? value : JSON.stringify(value, null, 2)
    return { summary: JSON.stringify(value) ?? "", details: details ?? "(no result)" }
  }
  const failure = decodeFailure(exit)
  if (Option.isSome(failure) && failure.value.cause.length > 0) {
    const reasons = failure.value.cause.map(readReason)
    return {
      summary: reasons.map(({ summary }) => summary).join("; "),
      details: reasons.map(({ details }) => details).join("\n\n")
    }
  }
  return { summary: JSON.stringify(exit) ?? "", details: JSON.stringify(exit, null, 2) ?? "" }
}
