import { Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { postgresServers, postgresStore } from "../support/fresh-postgres.ts"
import { modelTest } from "./modelTest.ts"
import type { Home } from "./run.ts"

// A server takes longer to start than most histories.
const startsEach = 4

let histories = 0

// Opened by one of two servers in turn; in one history of some, by one that starts when the store is opened again.
const home: Home = Effect.sync(() => {
  const name = randomUUID()
  const isStarted = histories++ % startsEach === 0
  const servers = postgresServers(2, name)
  let opened = 0
  return Layer.unwrap(
    Effect.sync(() => {
      const server = isStarted && opened > 0 ? undefined : servers[opened % servers.length]
      opened++
      return server ?? postgresStore(name)
    })
  )
})

// Each call waits for a database, so there are fewer in a history, several histories at once.
modelTest("postgres", home, { turns: 40, atOnce: 4, share: 0.25 })
