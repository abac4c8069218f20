/**
 * What parked waits cost: so many clients, each on connections of its own, wait for work at one server. Prints the sockets and the
 * memory of the server before and with them, and how long it takes until all are gone after their process was killed with -9.
 *
 *     npm run bench:parked -- [--clients 1000] [--transport websocket]
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { startServer } from "../jobwire/server-process.ts"
import { openSockets, residentBytes } from "./procfs.ts"

const { values } = parseArgs({
  options: { clients: { type: "string", default: "1000" }, transport: { type: "string", default: "websocket" } }
})

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)
const clients = Number(values.clients)
const server = await startServer("memory")

const park = async (count: number) => {
  const child = fork(fileURLToPath(new URL("./parked-clients.ts", import.meta.url)), {
    execArgv: ["--conditions=jobwire:source"]
  })
  child.send({ url: server.url, transport: values.transport, count })
  const [{ parkedMs }] = await once(child, "message")
  return { child, parkedMs: Number(parkedMs) }
}

const kill = async (child: ReturnType<typeof fork>, sockets: number): Promise<number> => {
  const start = performance.now()
  child.kill("SIGKILL")
  await once(child, "exit")
  const deadline = start + 30_000
  while (openSockets(server.pid) > sockets) {
    if (performance.now() > deadline) throw new Error("sockets of the killed clients are still open after 30 s")
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return performance.now() - start
}

try {
  const sockets = openSockets(server.pid)
  // A first round warms up code and buffers, so that the second shows what a wait costs.
  const warm = await park(clients)
  await kill(warm.child, sockets)
  const before = residentBytes(server.pid)
  const { child, parkedMs } = await park(clients)
  const withWaits = residentBytes(server.pid)
  const held = openSockets(server.pid) - sockets
  const freedMs = await kill(child, sockets)
  console.log(
    [
      `clients            ${clients} over ${values.transport}, parked in ${Math.round(parkedMs)} ms`,
      `sockets            ${held}`,
      `server memory      ${mebibytes(before)} MiB before, ${mebibytes(withWaits)} MiB with them`,
      `memory a wait      ${Math.round((withWaits - before) / clients / 1024)} KiB`,
      `freed after kill   ${Math.round(freedMs)} ms`
    ].join("\n")
  )
} finally {
  await server.stop()
}
