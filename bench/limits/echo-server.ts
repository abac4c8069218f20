/**
 * The least that a server can do with a message: parse it, and write it back. What goes through it in a second is the measure of
 * the machine, of Node and of the loopback at this moment; started by `echo.ts`.
 */
import { createServer } from "node:http"
import { WebSocketServer } from "ws"

const server = createServer((request, response) => {
  let body = ""
  request.setEncoding("utf8")
  request.on("data", (part: string) => {
    body += part
  })
  request.on("end", () => {
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify(JSON.parse(body)))
  })
})

new WebSocketServer({ server }).on("connection", (socket) => {
  socket.on("message", (data) => socket.send(JSON.stringify(JSON.parse(String(data)))))
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.send?.({ port: typeof address === "object" ? address?.port : undefined })
})
process.on("disconnect", () => process.exit(0))
