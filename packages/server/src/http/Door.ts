/**
 * Who may come in: decided from the head of a request, before its body is read and before a socket is opened. Nothing that
 * is inside an RPC message has a say.
 */
import { Json, Limits } from "@jobwire/protocol"
import { Clock, Context, Effect, Option } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { defaultStoreId } from "../JobStores.ts"
import { type Caller, CurrentCaller } from "../tenant/Caller.ts"
import { type Grant, openGrant, Tokens } from "../tenant/Tokens.ts"
import { connectionOf } from "./Connection.ts"
import * as Credentials from "./Credentials.ts"
import { Drain } from "./Drain.ts"
import * as OpenDoor from "./OpenDoor.ts"
import * as Problem from "./Problem.ts"

/** The refusal of a request, ready to send. */
export type Refusal = HttpServerResponse.HttpServerResponse

const retryAfterSeconds = 5

const controlCharacter = /\p{Cc}/u

const storeOf = (
  params: HttpServerRequest.ParsedSearchParams["Service"],
  limit: number
): Effect.Effect<string, Refusal> => {
  const { store = defaultStoreId.store } = params
  if (typeof store !== "string") return Effect.fail(Problem.badRequest("The query names more than one store."))
  if (store.length === 0 || store.length > limit) {
    return Effect.fail(
      Problem.badRequest(`The name of the store has ${store.length} characters; from 1 to ${limit} are allowed.`)
    )
  }
  const problem = controlCharacter.test(store) ? "contains a control character" : Json.findStringProblem(store)
  if (problem !== undefined) return Effect.fail(Problem.badRequest(`The name of the store ${problem}.`))
  return Effect.succeed(store)
}

const missing = "This server wants a token: send it as 'Authorization: Bearer TOKEN'."

const grantOf = (tokens: Tokens["Service"], presented: Credentials.Presented): Effect.Effect<Grant, Refusal> => {
  switch (presented._tag) {
    case "Blank":
      return Effect.fail(Problem.unauthorized("The token is blank."))
    case "None":
      return tokens.open ? Effect.succeed(openGrant) : Effect.fail(Problem.unauthorized(missing))
    case "Unknown":
      return tokens.open ? Effect.succeed(openGrant) : Effect.fail(Problem.unauthorized(missing))
    case "Token":
      return tokens.open
        ? Effect.succeed(openGrant)
        : Effect.flatMap(
            tokens.check(presented.token),
            Option.match({
              onNone: () => Effect.fail(Problem.unauthorized("The server does not know this token.")),
              onSome: Effect.succeed
            })
          )
  }
}

/** The door of one server. */
export const make = Effect.gen(function* () {
  const tokens = yield* Tokens
  const drain = yield* Drain
  const clock = yield* Clock.Clock
  const { nameLength } = yield* Limits.CurrentLimits
  // Connections that were in use before the server began to stop may finish what they are at.
  const known = new WeakSet<object>()

  const refuseWhileDraining = (request: HttpServerRequest.HttpServerRequest): Refusal | undefined => {
    const connection = connectionOf(request) ?? request.source
    if (!drain.hasBegun()) {
      known.add(connection)
      return undefined
    }
    return known.has(connection) && request.method === "POST"
      ? undefined
      : Problem.unavailable("The server is stopping.", retryAfterSeconds)
  }

  /** Who is calling, or the refusal to answer with. */
  const admit = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const refusal = refuseWhileDraining(request) ?? (tokens.open ? OpenDoor.refuse(request) : undefined)
    if (refusal !== undefined) return yield* Effect.fail(refusal)
    const grant = yield* grantOf(tokens, Credentials.read(request.headers))
    const store = yield* storeOf(yield* HttpServerRequest.ParsedSearchParams, nameLength)
    return { tenant: grant.tenant, store, scopes: grant.scopes } satisfies Caller
  })

  /** What handlers are to find in their context: the caller, and the clock that the server was built with. */
  const identity = (caller: Caller): Context.Context<never> =>
    Context.make(CurrentCaller, caller).pipe(Context.add(Clock.Clock, clock))

  return { admit, identity }
})

/** See {@link make}. */
export interface Door extends Effect.Success<typeof make> {}
