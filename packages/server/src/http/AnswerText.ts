/**
 * Answers as JSON text. One that is too long is not sent: a client would take it for nonsense and give up the connection with
 * all other calls on it. Its caller is told instead.
 */
import { Json, JobStoreError, Wire } from "@jobwire/protocol"
import { Schema } from "effect"
import type { RpcMessage } from "effect/rpc"

const encodeError = Schema.encodeSync(JobStoreError)

const tooLong = (requestId: string | number): RpcMessage.ResponseExitEncoded => {
  const error = encodeError(
    new JobStoreError({
      message:
        `the answer is longer than the ${Wire.maxAnswerBytes} bytes that may be sent at once; the call was carried out. ` +
        "Look at less at a time, or keep values smaller",
      reason: { _tag: "Defect" }
    })
  )
  return { _tag: "Exit", requestId, exit: { _tag: "Failure", cause: [{ _tag: "Fail", error }] } }
}

const fits = (text: string): boolean =>
  // No UTF-16 unit takes more than three bytes, so most texts need not be measured.
  text.length * 3 <= Wire.maxAnswerBytes || Json.utf8Length(text) <= Wire.maxAnswerBytes

const toText = (answer: RpcMessage.FromServerEncoded): string | undefined => {
  try {
    return JSON.stringify(answer)
  } catch (error) {
    // Longer than a string can be.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The text of an answer, or of the error that its caller gets in its place. */
export const answerText = (answer: RpcMessage.FromServerEncoded): string => {
  const text = toText(answer)
  if (text !== undefined && (answer._tag !== "Exit" || fits(text))) return text
  return "requestId" in answer ? JSON.stringify(tooLong(answer.requestId)) : ""
}
