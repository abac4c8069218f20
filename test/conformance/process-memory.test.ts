/** The suite with the server in another process, whose clock the test leads. */
import { jobStoreConformance } from "@jobwire/protocol/testing"
import { afterAll, beforeAll } from "vitest"
import * as ClockedProcess from "../support/clocked-process.ts"

let server: ClockedProcess.ClockedProcess

beforeAll(async () => {
  server = await ClockedProcess.start("memory")
})

afterAll(() => server.stop())

for (const transport of ["websocket", "http"] as const) {
  jobStoreConformance(`memory in another process over ${transport}`, () =>
    ClockedProcess.layer(() => server, transport)
  )
}
