/** From the end of a program to the end of its run. */
import { type AckOutcome, type JobRecord, Json, Limits } from "@jobwire/protocol"
import * as ExitCode from "../ExitCode.ts"
import { formatDuration } from "../flags/Duration.ts"
import { backoffDelayMs } from "./Backoff.ts"
import { failureExit, type ProgramFault, successExit } from "./ExitValue.ts"
import type { Output } from "./Output.ts"
import type { ProgramEnd } from "./Program.ts"

/** Bytes of JSON that a result may have; the rest of the limit is for what is around it. */
export const resultLimit = Limits.defaults.exitBytes - 1024

/** Bytes of stderr that are kept with a failure. */
export const stderrLimit = 8192

const truncatedTail = 16_384

const isKept = (value: unknown): boolean =>
  Json.inspect(value).problem === undefined && Json.byteLength(value) <= resultLimit

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The result that stdout is: the JSON it holds, else its text without the newlines at its end, `null` when it is empty.
 * Too much of it becomes `{truncated: true, bytes, tail}`: the program did its work, so the job must not run again.
 */
export const resultOf = (stdout: Output): unknown => {
  const truncated = () => ({ truncated: true, bytes: stdout.bytes, tail: stdout.tail(truncatedTail) })
  if (!stdout.isWhole) return truncated()
  const text = stdout.text().replace(/[\r\n]+$/, "")
  if (text === "") return null
  const parsed = parseJson(text)
  if (parsed !== undefined && isKept(parsed)) return parsed
  return isKept(text) ? text : truncated()
}

const lastLine = (text: string): string | undefined => {
  const line = text.trimEnd().split("\n").at(-1)?.trim()
  return line === undefined || line === "" ? undefined : line.slice(0, 200).toWellFormed()
}

const faultOf = ({ code, signal, stderr }: ProgramEnd): ProgramFault => {
  const what = code === undefined ? `was ended by ${signal ?? "a signal"}` : `exited with code ${code}`
  const text = stderr.text()
  const line = lastLine(text)
  const message = `the program ${what}${line === undefined ? "" : `: ${line}`}`
  return { message, exitCode: code, signal, stderr: text }
}

/** What a program can make of its job. */
export type ProgramOutcome = Exclude<AckOutcome, { _tag: "FanOut" }>

const fail = (job: JobRecord, fault: ProgramFault): ProgramOutcome => {
  const run = job.attemptsMade + 1
  const exit = failureExit(fault)
  return run >= job.attemptsMax
    ? { _tag: "Fail", exit }
    : { _tag: "Retry", delayMs: backoffDelayMs(job.backoff, run), exit }
}

/** What a program that ended by itself makes of its job. */
export const settle = (job: JobRecord, end: ProgramEnd): ProgramOutcome => {
  if (end.code === 0) return { _tag: "Complete", exit: successExit(resultOf(end.stdout)) }
  const fault = faultOf(end)
  return end.code === ExitCode.programFailsAtOnce ? { _tag: "Fail", exit: failureExit(fault) } : fail(job, fault)
}

/** What a program that was stopped because it took too long makes of its job. */
export const settleTimeout = (job: JobRecord, timeoutMs: number, end: ProgramEnd): ProgramOutcome => {
  const message = `the program was stopped: it took longer than its timeout of ${formatDuration(timeoutMs)}`
  return fail(job, { ...faultOf(end), message, timedOut: true })
}
