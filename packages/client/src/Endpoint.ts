/** Where a server is: the URLs of its two transports, made from the one that the application gives. */
import { invalidArgument, type JobStoreError, Wire } from "@jobwire/protocol"
import { Result } from "effect"

/** The address of one store on one server. */
export interface Endpoint {
  /** For POST, and for the question why a socket was refused. */
  readonly http: string
  readonly websocket: string
  /** For messages: it has neither credentials nor a query. */
  readonly shown: string
}

// The scheme of each transport under every scheme that is accepted.
const schemes: Record<string, { readonly http: string; readonly websocket: string }> = {
  "http:": { http: "http:", websocket: "ws:" },
  "https:": { http: "https:", websocket: "wss:" },
  "ws:": { http: "http:", websocket: "ws:" },
  "wss:": { http: "https:", websocket: "wss:" }
}

// A URL that may hold a secret is not repeated.
const quoted = (url: string): string => (/[@?#]/.test(url) ? "" : `, and is ${JSON.stringify(url)}`)

const problemOf = (text: string, url: URL | null): string | undefined => {
  if (url === null || schemes[url.protocol] === undefined || url.host === "") {
    return `must be a URL such as https://jobs.example.com:4400${quoted(text)}`
  }
  if (url.username !== "" || url.password !== "") return "must not hold credentials: give them as `token`"
  if (url.search !== "") return "must not hold a query: name the store as `store`"
  if (url.hash !== "") return "must not hold a fragment"
  return undefined
}

/** The endpoint of a store behind `http(s)://host[:port][/base]`; `ws` and `wss` are read as `http` and `https`. */
export const parseEndpoint = (
  given: string | URL,
  store: string | undefined
): Result.Result<Endpoint, JobStoreError> => {
  const text = String(given)
  const url = URL.parse(text)
  const problem = problemOf(text, url)
  // The problem is there when the URL is not.
  if (problem !== undefined || url === null) return Result.fail(invalidArgument("url", problem ?? "is no URL"))
  const { http = "", websocket = "" } = schemes[url.protocol] ?? {}
  const rest = `//${url.host}${url.pathname.replace(/\/+$/, "")}${Wire.callPath}`
  const query = store === undefined ? "" : `?store=${encodeURIComponent(store)}`
  return Result.succeed({
    http: http + rest + query,
    websocket: websocket + rest + query,
    shown: http + rest
  })
}
