/** The network connection under a request, where the platform shows it. */
import type { HttpServerRequest } from "effect/http"
import { Socket } from "node:net"

/** The TCP connection of a request; `undefined` when it did not come through node:http. */
export const connectionOf = ({ source }: HttpServerRequest.HttpServerRequest): Socket | undefined =>
  "socket" in source && source.socket instanceof Socket ? source.socket : undefined
