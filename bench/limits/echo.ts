/** How many messages a second a bare echo takes, over one WebSocket or over HTTP: what the rates of a job store are compared with. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { Agent, request } from "node:http"
import { fileURLToPath } from "node:url"
import { WebSocket } from "ws"
import { payload } from "../contenders/payload.ts"

type Send = (id: number) => Promise<void>

const overWebSocket = async (port: number): Promise<{ readonly send: Send; readonly close: () => void }> => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`)
  await once(socket, "open")
  const waiting = new Map<number, () => void>()
  socket.on("message", (data) => {
    const { id } = JSON.parse(String(data))
    waiting.get(id)?.()
    waiting.delete(id)
  })
  const send: Send = (id) =>
    new Promise((resolve) => {
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, payload }))
    })
  return { send, close: () => socket.close() }
}

const overHttp = (port: number): { readonly send: Send; readonly close: () => void } => {
  const agent = new Agent({ keepAlive: true })
  const send: Send = (id) =>
    new Promise((resolve, reject) => {
      const call = request({ host: "127.0.0.1", port, method: "POST", agent }, (response) => {
        let body = ""
        response.setEncoding("utf8")
        response.on("data", (part: string) => {
          body += part
        })
        response.on("end", () => {
          JSON.parse(body)
          resolve()
        })
      })
      call.on("error", reject)
      call.end(JSON.stringify({ id, payload }))
    })
  return { send, close: () => agent.destroy() }
}

/** Messages a second, there and back, by so many callers at once. */
export const echoRate = async (transport: "websocket" | "http", callers: number, seconds: number): Promise<number> => {
  const child = fork(fileURLToPath(new URL("./echo-server.ts", import.meta.url)))
  const exit = once(child, "exit")
  const [{ port }] = await once(child, "message")
  const { close, send } = transport === "websocket" ? await overWebSocket(port) : overHttp(port)
  const start = performance.now()
  const end = start + seconds * 1000
  let calls = 0
  const caller = async () => {
    while (performance.now() < end) await send(calls++)
  }
  await Promise.all(Array.from({ length: callers }, caller))
  const rate = calls / ((performance.now() - start) / 1000)
  close()
  child.disconnect()
  await exit
  return Math.round(rate)
}
