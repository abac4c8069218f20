/** The operations as an RPC group, made from the table. */
import type { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { type OperationName, type Operations, operationNames, operations, type Parameter } from "./Operations.ts"

/** The schemas of an operation's parameters under their names. */
export type PayloadFields<Name extends OperationName> = {
  readonly [Field in Operations[Name]["parameters"][number] as Field[0]]: Field[1]
}

/** The remote procedure of an operation. */
export type OperationRpc<Name extends OperationName> = {
  readonly [N in Name]: Rpc.Rpc<N, Schema.Struct<PayloadFields<N>>, Operations[N]["success"], Operations[N]["error"]>
}[Name]

const payloadOf = (parameters: ReadonlyArray<Parameter>): Schema.Struct.Fields => Object.fromEntries(parameters)

const rpcs = operationNames.map((name) => {
  const { error, parameters, success } = operations[name]
  return Rpc.make(name, { payload: payloadOf(parameters), success, error })
})

/** One remote procedure an operation, of the same name. */
// The list is built from the table by the rule that `OperationRpc` states; a test compares them.
export const JobStoreRpcs = RpcGroup.make(...rpcs) as unknown as RpcGroup.RpcGroup<OperationRpc<OperationName>>

/** Positional arguments as the payload of the operation's procedure. */
export const toPayload = (name: OperationName, args: ReadonlyArray<unknown>): Record<string, unknown> => {
  const payload: Record<string, unknown> = {}
  operations[name].parameters.forEach(([field], index) => {
    payload[field] = args[index]
  })
  return payload
}

/** The payload of a procedure as the positional arguments of its operation. */
export const toArguments = (name: OperationName, payload: Record<string, unknown>): Array<unknown> =>
  operations[name].parameters.map(([field]) => payload[field])
