/**
 * A pooler in transaction mode, as small as can be: every client is served by one session of the server, one transaction at a
 * time. What a client sets outlives its transaction, and is seen by whoever comes next.
 */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"

/** Where it listens, and how it ends. */
export interface Pooler {
  readonly url: string
  readonly close: () => void
}

const sslRequest = 80_877_103
const readyForQuery = 0x5a
const idle = 0x49

// Messages of PostgreSQL: a byte for the kind, then four for the length, which counts itself and what follows.
function* messagesOf(buffer: { bytes: Buffer }): Generator<Buffer> {
  while (buffer.bytes.length >= 5) {
    const length = 1 + buffer.bytes.readUInt32BE(1)
    if (buffer.bytes.length < length) return
    const message = buffer.bytes.subarray(0, length)
    buffer.bytes = buffer.bytes.subarray(length)
    yield message
  }
}

const isReady = (message: Buffer): boolean => message[0] === readyForQuery && message[5] === idle

/** The one session: it serves a client until its transaction ends, then the next that waits. */
class SharedSession {
  readonly #server: Socket
  readonly #greeting: Buffer
  readonly #waiting: Array<{ readonly client: Socket; readonly bytes: Buffer }> = []
  #served: Socket | undefined

  constructor(server: Socket, greeting: Buffer) {
    this.#server = server
    this.#greeting = greeting
    const buffer = { bytes: Buffer.alloc(0) }
    server.on("data", (bytes) => {
      buffer.bytes = Buffer.concat([buffer.bytes, bytes])
      for (const message of messagesOf(buffer)) this.#answer(message)
    })
  }

  greet(client: Socket): void {
    client.write(this.#greeting)
  }

  send(client: Socket, bytes: Buffer): void {
    if (this.#served !== undefined && this.#served !== client) {
      this.#waiting.push({ client, bytes })
      return
    }
    this.#served = client
    this.#server.write(bytes)
  }

  #answer(message: Buffer): void {
    this.#served?.write(message)
    if (!isReady(message)) return
    this.#served = undefined
    const next = this.#waiting.shift()
    if (next !== undefined) this.send(next.client, next.bytes)
  }
}

const openSession = async (port: number, startup: Buffer): Promise<SharedSession> => {
  const server = connect(port, "127.0.0.1")
  server.write(startup)
  const greeting: Array<Buffer> = []
  const buffer = { bytes: Buffer.alloc(0) }
  while (!greeting.some(isReady)) {
    const [bytes] = await once(server, "data")
    buffer.bytes = Buffer.concat([buffer.bytes, bytes])
    greeting.push(...messagesOf(buffer))
  }
  server.removeAllListeners("data")
  return new SharedSession(server, Buffer.concat(greeting))
}

/** Starts a pooler before this server, which must ask for no password. */
export const start = async (url: string): Promise<Pooler> => {
  const port = Number(new URL(url).port)
  let session: Promise<SharedSession> | undefined
  const sockets = new Set<Socket>()
  const listener = createServer((client) => {
    sockets.add(client)
    client.on("error", () => client.destroy())
    let started = false
    client.on("data", async (bytes) => {
      if (started) return (await session)?.send(client, bytes)
      if (bytes.readUInt32BE(4) === sslRequest) return client.write("N")
      started = true
      session ??= openSession(port, bytes)
      ;(await session).greet(client)
    })
  }).listen(0, "127.0.0.1")
  await once(listener, "listening")
  const address = listener.address()
  if (address === null || typeof address === "string") throw new Error("the pooler has no port")
  const pooled = new URL(url)
  pooled.port = `${address.port}`
  return {
    url: pooled.href,
    close: () => {
      for (const socket of sockets) socket.destroy()
      listener.close()
    }
  }
}
