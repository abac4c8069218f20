/** From a line of a file to a request. */
import { EnqueueRequest, type Limits, Validation } from "@jobwire/protocol"
import { Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Line } from "./Lines.ts"

/** What a line of the file is: the payload of a job, or a complete request. */
export type LineKind = "payload" | "request"

/** How lines become requests. */
export interface RequestRules {
  readonly kind: LineKind
  /** What the flags say about every job. A complete request may say otherwise. */
  readonly base: EnqueueRequest
  /** Line 12 gets the id `PREFIX-12`, so that the file may be sent again. A complete request may have an id of its own. */
  readonly idPrefix: string | undefined
  readonly limits: Limits.Limits
}

/** A line that cannot be enqueued. */
export interface BadLine {
  readonly line: number
  readonly problem: string
}

/** A request, with the line it came from. */
export interface NumberedRequest {
  readonly line: number
  readonly bytes: number
  readonly request: EnqueueRequest
  /** The id was drawn here, so a job that has it is the one of this line. */
  readonly isDrawn: boolean
}

const decode = Schema.decodeUnknownResult(EnqueueRequest, { onExcessProperty: "error" })
const encode = Schema.encodeSync(EnqueueRequest)

const parse = (text: string): Result.Result<unknown, string> =>
  Result.try({
    try: (): unknown => JSON.parse(text),
    catch: (error) => `is not JSON: ${error instanceof Error ? error.message : String(error)}`
  })

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const complete = (value: unknown, base: EnqueueRequest): Result.Result<EnqueueRequest, string> => {
  if (!isObject(value)) return Result.fail('is not an object with the fields of a request, such as {"payload": 1}')
  return Result.mapError(
    decode({ ...encode(base), ...value }),
    (error) => `is not a request: ${error.message.replaceAll(/\s*\n\s*/g, " ")}`
  )
}

// An id that is known before the request is sent makes it safe to send it again when its answer is lost.
const withId = (request: EnqueueRequest, line: number, prefix: string | undefined): EnqueueRequest =>
  request.id === undefined
    ? { ...request, id: prefix === undefined ? SecureRandom.uuidV7Unsafe() : `${prefix}-${line}` }
    : request

/** Reads the line by the rules, and checks the request as a store would. */
export const readLine = (line: Line, rules: RequestRules): Result.Result<NumberedRequest, BadLine> => {
  const { bytes, number, problem, text } = line
  const bad = (why: string) => Result.fail<BadLine>({ line: number, problem: why })
  if (problem !== undefined) return bad(problem)
  const value = parse(text)
  if (Result.isFailure(value)) return bad(value.failure)
  const read =
    rules.kind === "payload"
      ? Result.succeed({ ...rules.base, payload: value.success })
      : complete(value.success, rules.base)
  if (Result.isFailure(read)) return bad(read.failure)
  const request = withId(read.success, number, rules.idPrefix)
  const refusal = Validation.validate("enqueue", [request], rules.limits)
  if (refusal !== undefined) return bad(refusal.message.replace(/^request\./, ""))
  const isDrawn = read.success.id === undefined && rules.idPrefix === undefined
  return Result.succeed({ line: number, bytes, request, isDrawn })
}
