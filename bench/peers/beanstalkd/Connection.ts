/** One connection to beanstalkd: commands go out at once and their replies come back in the same order. */
import { once } from "node:events"
import { connect } from "node:net"

/** A reply: its words, and the body that some of them have. */
export interface Reply {
  readonly words: ReadonlyArray<string>
  readonly body: string
}

/** A connection. */
export interface Connection {
  /** Sends a command, with a body where it has one; resolves with its reply. */
  readonly send: (command: string, body?: string) => Promise<Reply>
  readonly close: () => void
}

interface Waiting {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

const newline = Buffer.from("\r\n")

// The replies whose last word is the length of a body.
const hasBody = (word: string | undefined): boolean => word === "RESERVED" || word === "OK"

/** Takes one reply off the front of the bytes, if it is there in full. */
const parse = (bytes: Buffer): { readonly reply: Reply; readonly rest: Buffer } | undefined => {
  const end = bytes.indexOf(newline)
  if (end < 0) return undefined
  const words = bytes.toString("latin1", 0, end).split(" ")
  const start = end + newline.length
  if (!hasBody(words[0])) return { reply: { words, body: "" }, rest: bytes.subarray(start) }
  const stop = start + Number(words.at(-1))
  if (bytes.length < stop + newline.length) return undefined
  return { reply: { words, body: bytes.toString("utf8", start, stop) }, rest: bytes.subarray(stop + newline.length) }
}

/** Connects to `host:port`. */
export const open = async (address: string): Promise<Connection> => {
  const [host, port] = address.split(":")
  const socket = connect({ host, port: Number(port), noDelay: true })
  await once(socket, "connect")
  const waiting: Array<Waiting> = []
  let bytes: Buffer = Buffer.alloc(0)
  socket.on("data", (chunk: Buffer) => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
    for (let next = parse(bytes); next !== undefined; next = parse(bytes)) {
      bytes = next.rest
      waiting.shift()?.resolve(next.reply)
    }
  })
  const end = (error: Error) => waiting.splice(0).forEach(({ reject }) => reject(error))
  socket.on("error", end)
  socket.on("close", () => end(new Error("the connection to beanstalkd was closed")))
  return {
    send: (command, body) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        socket.write(body === undefined ? `${command}\r\n` : `${command} ${Buffer.byteLength(body)}\r\n${body}\r\n`)
      }),
    close: () => socket.destroy()
  }
}
