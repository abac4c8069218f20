/**
 * How many jobs a second go through the network: {memory, sqlite} × {WebSocket, HTTP}, the server in a process of its own, 64 callers in
 * this one; and beside them a bare echo on each transport, which is the limit of the machine at that moment. Runs everything in
 * turn, three times, and prints medians; `--write` puts them into RESULTS.md.
 *
 *     npm run bench -- [--seconds 3] [--rounds 3] [--callers 64] [--write]
 */
import "effect/schema/SchemaJITCompiler/enable"
import { RemoteJobStore } from "@jobwire/client/node"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { parseArgs } from "node:util"
import { echoRate } from "./echo.ts"
import { claimAndAck, enqueue, fill, type Load } from "./load.ts"
import { type Driver, startServer } from "./server-process.ts"

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "3" },
    callers: { type: "string", default: "64" },
    write: { type: "boolean", default: false }
  }
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
const callers = Number(values.callers)

// Until then both processes still compile; over HTTP the rate doubles meanwhile.
const warmUpSeconds = 6

interface Combination {
  readonly driver: Driver
  readonly transport: "websocket" | "http"
  readonly rates: { readonly enqueue: Array<number>; readonly claimAndAck: Array<number> }
}

const combinations: ReadonlyArray<Combination> = (["memory", "sqlite"] as const).flatMap((driver) =>
  (["websocket", "http"] as const).map((transport) => ({ driver, transport, rates: { enqueue: [], claimAndAck: [] } }))
)

const rate = ({ calls, seconds }: Load): number => Math.round(calls / seconds)

const measure = async ({ driver, rates, transport }: Combination): Promise<void> => {
  const server = await startServer(driver)
  const program = Effect.gen(function* () {
    yield* enqueue(callers, warmUpSeconds)
    rates.enqueue.push(rate(yield* enqueue(callers, seconds)))
    yield* fill(2000)
    yield* claimAndAck(callers, warmUpSeconds / 2)
    rates.claimAndAck.push(rate(yield* claimAndAck(callers, seconds)))
  })
  try {
    await Effect.runPromise(Effect.provide(program, RemoteJobStore.layer({ url: server.url, transport })))
  } finally {
    await server.stop()
  }
}

const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

const echoes = { websocket: [] as Array<number>, http: [] as Array<number> }

for (let round = 0; round < rounds; round++) {
  for (const transport of ["websocket", "http"] as const) {
    echoes[transport].push(await echoRate(transport, callers, seconds))
  }
  for (const combination of combinations) await measure(combination)
}

const cell = (numbers: ReadonlyArray<number>): string =>
  `${median(numbers).toLocaleString("en")} (${numbers.map((n) => n.toLocaleString("en")).join(" · ")})`
const share = (transport: Combination["transport"], numbers: ReadonlyArray<number>): string =>
  `${(median(numbers) / median(echoes[transport])).toFixed(2)}`
const table = [
  "| driver | transport | enqueues/s | of the echo | claim+ack/s | of the echo |",
  "| --- | --- | --- | --- | --- | --- |",
  ...(["websocket", "http"] as const).map(
    (transport) => `| bare echo | ${transport} | ${cell(echoes[transport])} messages/s | 1 | | |`
  ),
  ...combinations.map(
    ({ driver, rates, transport }) =>
      `| ${driver} | ${transport} | ${cell(rates.enqueue)} | ${share(transport, rates.enqueue)} | ` +
      `${cell(rates.claimAndAck)} | ${share(transport, rates.claimAndAck)} |`
  )
].join("\n")

console.log(table)

if (values.write) {
  const [cpu] = cpus()
  const machine =
    `${cpus().length} cores (${cpu?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, ` +
    `Node ${process.versions.node}, ${process.platform}`
  const text = `# Results

Through the network, the server in its own process, ${callers} callers, payload of about 500 bytes, ${seconds} s a cell, after ${warmUpSeconds} s of warming up, median of
${rounds} interleaved rounds (all rounds in brackets). sqlite syncs every commit to the disk. A claim+ack is two calls. The bare echo parses
a message of the same size and writes it back; it is the limit of the machine in the same minutes. Made by \`npm run bench -- --write\`.

Machine: ${machine}.

${table}
`
  writeFileSync(new URL("./RESULTS.md", import.meta.url), text)
}
