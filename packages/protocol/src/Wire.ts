/** What both ends of a connection must agree on before the first call. `docs/protocol.md` has the rest. */

/** The path of all calls, below the URL of a server. */
export const callPath = "/v1/rpc"

/** The WebSocket subprotocol of the calls, and the one that a server answers with. */
export const subprotocol = "jobwire.v1"

/** The start of the WebSocket subprotocol that carries a token: the token follows in base64url. */
export const bearerPrefix = "bearer."

/**
 * How big a message may be, in bytes, unless a server is told otherwise. effect/rpc takes messages of up to 16 MiB of text;
 * the rest is room for what is around one.
 */
export const maxMessageBytes = 16 * 1024 * 1024 - 64 * 1024

/**
 * How big one answer may be, in bytes. The biggest page of the contract's limits is far below; a long ledger or very many
 * schedules, which have no pages, may come to it.
 */
export const maxAnswerBytes = 48 * 1024 * 1024
