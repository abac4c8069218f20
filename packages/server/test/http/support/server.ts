/** A server under test, and the calls of a peer that knows nothing but the wire. */
import { type JobStore, type OperationName, type Scope as TokenScope } from "@jobwire/protocol"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { HttpServer } from "effect/http"
import * as JobStoreServer from "../../../src/JobStoreServer.ts"
import { JobStores, type StoreId } from "../../../src/JobStores.ts"

export interface RunningServer {
  readonly port: number
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  /** Stops the server; resolves when it is gone. */
  readonly stop: Effect.Effect<void>
}

/** Serves the store, to every tenant and under every name, until the scope closes. */
export const start = Effect.fnUntraced(function* (
  store: JobStore.Service | ((id: StoreId) => JobStore.Service),
  options: JobStoreServer.HttpOptions = {}
) {
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
  const get = typeof store === "function" ? store : () => store
  const directory = Layer.succeed(JobStores, { get: (id: StoreId) => Effect.succeed(get(id)) })
  const server = JobStoreServer.layerHttp({ port: 0, ...options }).pipe(Layer.provide(directory))
  const context = yield* Layer.buildWithScope(server, scope)
  const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
  const port = "port" in address ? address.port : 0
  return { port, url: `http://127.0.0.1:${port}`, stop: Scope.close(scope, Exit.void) } satisfies RunningServer
})

/** A token entry. */
export const token = (value: string, scopes?: ReadonlyArray<TokenScope>, tenant?: string) => ({
  token: Redacted.make(value),
  scopes,
  tenant
})

/** The message of a call. */
export const message = (operation: OperationName | string, payload: unknown = {}, id: number | string = 1) => ({
  _tag: "Request",
  id,
  tag: operation,
  payload,
  headers: []
})

/** Sends a body to the path of the calls. */
export const post = (
  server: RunningServer,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  query = ""
): Effect.Effect<Response> =>
  Effect.promise((signal) =>
    fetch(`${server.url}/v1/rpc${query}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body),
      signal
    })
  )

export interface ExitMessage {
  readonly _tag: "Exit"
  readonly requestId: number | string
  readonly exit:
    | { readonly _tag: "Success"; readonly value: unknown }
    | { readonly _tag: "Failure"; readonly cause: ReadonlyArray<Record<string, unknown>> }
}

/** Makes one call by POST and gives its exit. */
export const call = (
  server: RunningServer,
  operation: OperationName | string,
  payload: unknown = {},
  headers: Readonly<Record<string, string>> = {},
  query = ""
): Effect.Effect<ExitMessage["exit"]> =>
  Effect.gen(function* () {
    const response = yield* post(server, message(operation, payload), headers, query)
    const answers = yield* Effect.promise(() => response.json() as Promise<ReadonlyArray<ExitMessage>>)
    const [answer] = answers
    if (answer === undefined) return yield* Effect.die(new Error(`no answer, status ${response.status}`))
    return answer.exit
  })

/** The error of a failed exit, if it has a typed one. */
export const errorOf = (exit: ExitMessage["exit"]): unknown =>
  exit._tag === "Failure" ? exit.cause.find((reason) => reason._tag === "Fail")?.error : undefined

/** The problem document of a refusal. */
export const problemOf = (response: Response) =>
  Effect.promise(async () => ({
    status: response.status,
    type: response.headers.get("content-type"),
    body: (await response.json()) as Record<string, unknown>
  }))
