/**
 * What a stop costs that many wait through: so many waits, parked on few shared sockets, when SIGTERM comes to their server. Prints how
 * long the server takes to end, over what time the answers come, and how many waits were not answered by a success.
 *
 *     node --conditions=jobwire:source bench/parked/draining.ts [--waits 10000] [--sockets 4]
 */
import { parseArgs } from "node:util"
import { setTimeout as sleep } from "node:timers/promises"
import { startServer } from "../jobwire/server-process.ts"
import { workedMs } from "./procfs.ts"

const { values } = parseArgs({
  options: { waits: { type: "string", default: "10000" }, sockets: { type: "string", default: "4" } }
})
const waits = Number(values.waits)
const sockets = Number(values.sockets)

/** What came to all sockets. */
const answered: Array<number> = []
let failed = 0

const isWait = (line: string): boolean => !/"requestId":"[a-z]/.test(line)

const onLine = (line: string, told: (line: string) => void) => {
  if (!isWait(line)) return told(line)
  answered.push(performance.now())
  if (!line.includes('"exit":{"_tag":"Success"')) failed++
}

const request = (id: string, tag: string, payload: unknown) =>
  `${JSON.stringify({ _tag: "Request", id, tag, payload, headers: [] })}\n`

/** Opens a socket and parks so many waits on it; resolves when the server has them all. */
const park = async (url: string, count: number): Promise<void> => {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/rpc`)
  const told = { line: (_line: string): void => undefined }
  const answer = (text: string) =>
    new Promise<string>((resolve) => {
      told.line = resolve
      socket.send(text)
    })
  socket.addEventListener("message", ({ data }) => {
    for (const line of String(data).split("\n")) if (line !== "") onLine(line, told.line)
  })
  await new Promise((opened) => socket.addEventListener("open", opened))
  const options = { queue: "idle", names: ["none"], token: "t", lockDurationMs: 1000 }
  const [, wakeToken = ""] = /"wakeToken":"([^"]*)"/.exec(await answer(request("claim", "claim", { options }))) ?? []
  const wait = { queues: ["idle"], wakeToken }
  socket.send(Array.from({ length: count }, (_, at) => request(`${at}`, "awaitWake", wait)).join(""))
  // A call after the last wait is answered after all were parked.
  await answer(request("counts", "counts", {}))
}

const server = await startServer("memory")
try {
  const each = Math.ceil(waits / sockets)
  await Promise.all(Array.from({ length: sockets }, () => park(server.url, each)))
  const early = answered.length
  const [start, worked] = [performance.now(), workedMs(server.pid)]
  let working = worked
  const watch = setInterval(() => (working = workedMs(server.pid) ?? working), 20)
  await server.stop()
  clearInterval(watch)
  const took = performance.now() - start
  await sleep(100)
  const times = answered.slice(early).map((at) => at - start)
  const at = (part: number) => `${Math.round(times[Math.floor(part * (times.length - 1))] ?? Number.NaN)} ms`
  console.log(
    [
      `waits              ${each * sockets} on ${sockets} sockets`,
      `answered           ${times.length} after SIGTERM, ${early} before, ${failed} of them not by a success`,
      `answers came       first ${at(0)}, half ${at(0.5)}, last ${at(1)}`,
      `server ended       ${Math.round(took)} ms after SIGTERM, having worked for ${(working ?? 0) - (worked ?? 0)} ms`
    ].join("\n")
  )
} finally {
  await server.stop()
}
