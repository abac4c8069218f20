/** A process that parks as many waits as it is told, by WebSocket or by HTTP, and stays until it is killed. */
import { WebSocket } from "ws"

const [, , transport, port, count] = process.argv

const wait = (id: number) => ({
  _tag: "Request",
  id,
  tag: "awaitWake",
  payload: { queues: ["q"], wakeToken: "w" },
  headers: []
})

const ids = Array.from({ length: Number(count) }, (_, id) => id)

if (transport === "websocket") {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/rpc`)
  socket.on("open", () => ids.forEach((id) => socket.send(`${JSON.stringify(wait(id))}\n`)))
} else {
  for (const id of ids) {
    void fetch(`http://127.0.0.1:${port}/v1/rpc`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(wait(id))
    })
  }
}
