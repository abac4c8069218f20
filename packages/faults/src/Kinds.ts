/** The kinds of faults, and what each of them can hit. */

/** What can be hit. Each one that comes has a number of its own. */
export const targets = [
  /** A TCP connection of a client, as it is accepted. */
  "connection",
  /** An HTTP request, with the answer to it. */
  "request",
  /** A request for a WebSocket, with the answer to it. */
  "upgrade",
  /** A message on a WebSocket, from the client. */
  "to-server",
  /** A message on a WebSocket, from the server. */
  "to-client"
] as const

/** See {@link targets}. */
export type Target = (typeof targets)[number]

/** Every kind of fault, with what it can hit. */
export const hitsOf = {
  /** It does not reach the server. */
  "drop-request": ["request", "upgrade", "to-server"],
  /** The server has done its work, and the answer does not reach the client. */
  "drop-answer": ["request", "upgrade", "to-client"],
  /** It is delivered twice at once. */
  repeat: ["request", "to-server", "to-client"],
  /** It is delivered once more some time later, when the first was answered. */
  "late-repeat": ["request", "to-server", "to-client"],
  /** It comes later. */
  delay: ["request", "upgrade", "to-server", "to-client"],
  /** It waits until one of another connection, which came later, has overtaken it. */
  reorder: ["request", "to-server", "to-client"],
  /** The connection ends in the middle of it. */
  cut: ["request", "upgrade", "to-server", "to-client"],
  /** The connection falls silent for a time, both ways, and stays open. */
  "half-open": ["request", "upgrade", "to-server", "to-client"],
  /** It is answered with 502, 503 or 504 in the server's place. */
  balancer: ["request", "upgrade"],
  /** The connection is reset, and for a time no new one is accepted. */
  refuse: ["connection"]
} as const satisfies Readonly<Record<string, ReadonlyArray<Target>>>

/** A kind of fault. */
export type Kind = keyof typeof hitsOf

/** All kinds. */
// The keys are those of the table.
export const kinds = Object.keys(hitsOf) as ReadonlyArray<Kind>

/** Whether this is the name of a kind. */
export const isKind = (name: string): name is Kind => Object.hasOwn(hitsOf, name)

/** Whether faults of this kind can hit this target. */
export const canHit = (kind: Kind, target: Target): boolean => {
  const hits: ReadonlyArray<Target> = hitsOf[kind]
  return hits.includes(target)
}
