/** Why a server let no socket open. A refused socket tells no status, so the same URL is asked by a plain GET. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect } from "effect"
import { type HttpClient, HttpClientRequest } from "effect/http"
import { turnedAway, unreachable } from "../Faults.ts"
import type { Settings } from "../Options.ts"
import { authorized } from "../Token.ts"
import { networkError, readReply, refusalOf } from "./Responses.ts"

const withinMs = 10_000

// What a server answers to a GET that it would have let through as a socket.
const upgradeRequired = 426

/** Asks once. No call has been sent, so none of the reasons says that one may have been. */
export const askWhy = (settings: Settings, client: HttpClient.HttpClient): Effect.Effect<JobStoreError> => {
  const { http, shown } = settings.endpoint
  return client.execute(authorized(HttpClientRequest.get(http), settings.token)).pipe(
    Effect.flatMap(readReply),
    Effect.map((reply) =>
      reply.status === upgradeRequired
        ? turnedAway(
            shown,
            false,
            "it answers, but the WebSocket did not open; if a proxy keeps it from opening, use http"
          )
        : refusalOf(shown, reply, undefined)
    ),
    Effect.catch((error) => Effect.succeed(networkError(shown, error, false))),
    Effect.timeoutOrElse({
      duration: withinMs,
      orElse: () => Effect.succeed(unreachable(shown, `no answer within ${withinMs} ms`))
    })
  )
}
