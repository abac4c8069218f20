/**
 * Calls that nothing but a receipt remembers: the answer is kept under the call's key, in the transaction of its effect, and given again
 * to whoever calls by that key. A refusal by one of the operation's own errors is an answer too.
 */
import {
  Call,
  callConflict,
  type JobStore,
  type JobStoreError,
  type OperationName,
  operationNames,
  operations
} from "@jobwire/protocol"
import { Context, Effect, Result, Schema } from "effect"
import { callKey, holds, receipt, type ReceiptRow } from "../../core/Receipt.ts"
import { bodyOf } from "./CallIds.ts"
import type { Tables } from "./Tables.ts"

/** How the unit of a call is remembered. */
export interface Remembering {
  readonly call: string
  readonly body: string
  readonly toText: (answer: unknown) => string
  readonly fromText: (text: string) => unknown
}

/** How the unit that this fiber runs is remembered; absent when it is not, or when its jobs do that. */
export const CurrentRemembering = Context.Reference<Remembering | undefined>("@jobwire/server/Remembering", {
  defaultValue: () => undefined
})

/** The same call as before has another body. */
export class Conflict {
  readonly error: JobStoreError

  constructor(call: string) {
    this.error = callConflict(call)
  }
}

/** Does the work once under the key. */
export const once = <A>(
  { body, call, fromText, toText }: Remembering,
  tables: Tables,
  now: number,
  work: () => A
): A | Conflict => {
  const key = callKey(call)
  const found = tables.receipts.get(key)
  if (holds(found, now)) {
    // It was written below, by the same operation.
    return found.body === body ? (fromText(found.answer) as A) : new Conflict(call)
  }
  const answer = work()
  const kept: ReceiptRow = receipt(key, body, toText(answer), now)
  tables.receipts.put(kept)
  return answer
}

type AnyMethod = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>

/** The operations, those by receipt so that they are remembered when their caller gives a key. */
export const remembered = (service: JobStore.Service): JobStore.Service => {
  const methods: Record<string, unknown> = { ...service }
  for (const name of operationNames) {
    if (operations[name].repeat === "receipt") methods[name] = byReceipt(name, service[name] as AnyMethod)
  }
  // Each method has been put in under its own name.
  return methods as unknown as JobStore.Service
}

const byReceipt = (name: OperationName, method: AnyMethod): AnyMethod => {
  const texts = textsOf(name)
  return (...args) =>
    Effect.withFiber((fiber) => {
      const call = fiber.getRef(Call.CurrentCall)
      if (call === undefined) return method(...args)
      const remembering: Remembering = { call, body: bodyOf([name, ...args]), ...texts }
      return Effect.provideService(method(...args), CurrentRemembering, remembering)
    })
}

type Codec = Schema.Codec<unknown, unknown>

// A unit answers what the operation answers, or a result of that where the operation may refuse.
const textsOf = (name: OperationName): Pick<Remembering, "toText" | "fromText"> => {
  const { error, success } = operations[name]
  // As JSON they need no services, which the types of the table do not say.
  const [values, errors] = [Schema.toCodecJson(success), Schema.toCodecJson(error)] as unknown as [Codec, Codec]
  return {
    toText: (answer) => JSON.stringify(encode(values, errors, answer)),
    // It was written by the line above.
    fromText: (text) => decode(values, errors, JSON.parse(text) as Encoded)
  }
}

type Encoded = readonly [kind: "plain" | "success" | "failure", value: unknown]

const encode = (values: Codec, errors: Codec, answer: unknown): Encoded => {
  if (!Result.isResult(answer)) return ["plain", Schema.encodeSync(values)(answer)]
  return Result.isSuccess(answer)
    ? ["success", Schema.encodeSync(values)(answer.success)]
    : ["failure", Schema.encodeSync(errors)(answer.failure)]
}

const decode = (values: Codec, errors: Codec, [kind, value]: Encoded): unknown => {
  if (kind === "failure") return Result.fail(Schema.decodeUnknownSync(errors)(value))
  const decoded = Schema.decodeUnknownSync(values)(value)
  return kind === "plain" ? decoded : Result.succeed(decoded)
}
