/** What no contender can pass on this machine at that moment: measured in every round, beside them. */
import type { Postgres } from "../services/postgres.ts"
import type { Scale } from "../workloads/Scale.ts"
import { echoRate } from "./echo.ts"
import { clientCounts, pgbenchRate } from "./pgbench.ts"

/** A limit, in messages or commits a second. */
export interface Limit {
  readonly name: string
  readonly label: string
  readonly settings: string
  /** None when what it needs is not installed. */
  readonly measure: (postgres: () => Promise<Postgres>, scale: Scale) => Promise<number | undefined>
}

const callers = 64

const echo = (transport: "websocket" | "http"): Limit => ({
  name: `echo-${transport}`,
  label: `bare echo, ${transport === "http" ? "HTTP" : "WebSocket"}`,
  settings: `messages a second: parses a payload and writes it back; ${callers} callers, the server in its own process`,
  measure: (_postgres, { steadySeconds }) => echoRate(transport, callers, steadySeconds / 2)
})

/** In the order of the tables. */
export const limits: ReadonlyArray<Limit> = [
  echo("websocket"),
  echo("http"),
  {
    name: "pgbench",
    label: "pgbench -N",
    settings: `commits a second: scale 10, the best of ${clientCounts.join(", ")} clients`,
    measure: async (postgres, { steadySeconds }) => pgbenchRate(await postgres(), steadySeconds / 2)
  }
]
