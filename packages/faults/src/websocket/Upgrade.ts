/** Requests for a WebSocket: they open a tunnel, are refused by the server, or are hit. */
import { Effect, type Scope } from "effect"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { pipeline } from "node:stream"
import type { Decision } from "../Decision.ts"
import { balancerBytes } from "../http/Client.ts"
import { writePart } from "../http/Cut.ts"
import { drain } from "../Reading.ts"
import type { Answer, Trouble } from "../upstream/Call.ts"
import { answerBytes, answerHeaders, type RequestHead, upgradeHeadOf } from "../upstream/Head.ts"
import type { Verdict, Workings } from "../Workings.ts"
import { Flow, type Tunnel } from "./Flow.ts"
import { Line } from "./Line.ts"
import { Silence } from "./Silence.ts"

/** What an upgrade works with. */
interface Upgrade {
  readonly workings: Workings
  readonly connection: number
  readonly head: RequestHead
  readonly socket: Socket
}

type Step<A> = Effect.Effect<A, Trouble, Scope.Scope>

const ask = Effect.fnUntraced(function* ({ head, workings }: Upgrade) {
  const call = yield* workings.upstreams.openAlone(head)
  call.request.end()
  const answer = yield* call.answer
  if (answer._tag === "Upgraded") {
    answer.socket.on("error", () => undefined)
    yield* Effect.addFinalizer(() => Effect.sync(() => void answer.socket.destroy()))
  }
  return answer
})

/** The head of the answer, as the client gets it. */
const answerHead = ({ _tag, message }: Answer): Buffer =>
  _tag === "Upgraded" ? answerBytes(message) : answerBytes(message, [...answerHeaders(message), "connection", "close"])

const relay = (upgrade: Upgrade, answer: Answer): Effect.Effect<void> => {
  const { connection, head, socket, workings } = upgrade
  socket.write(answerHead(answer))
  if (answer._tag === "Response") {
    return Effect.callback((resume) => void pipeline(answer.message, socket, () => resume(Effect.void)))
  }
  if (answer.first.length > 0) answer.socket.unshift(answer.first)
  const [client, server] = [new Line(socket), new Line(answer.socket)]
  const tunnel: Tunnel = { workings, connection, head, client, server, silence: new Silence() }
  const flows = [new Flow(tunnel, "to-server"), new Flow(tunnel, "to-client")]
  return Effect.forEach(flows, ({ carry }) => carry, { concurrency: 2, discard: true })
}

// Without a sign, the client waits for as long as it likes, and so does the server for it.
const lose = ({ socket }: Upgrade, silent: boolean): Effect.Effect<void> =>
  silent ? drain(socket) : Effect.sync(() => void socket.resetAndDestroy())

// Before the answer a client has nothing to say, so that its end shows at once.
const gone = ({ socket }: Upgrade): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const done = () => resume(Effect.void)
    if (socket.destroyed || socket.readableEnded) return done()
    socket.once("end", done).once("close", done)
    return Effect.sync(() => void socket.off("end", done).off("close", done))
  })

const whileClientStays = (upgrade: Upgrade, answer: Step<Answer>): Step<Answer | undefined> =>
  Effect.raceFirst(answer, Effect.as(gone(upgrade), undefined))

const act = (upgrade: Upgrade, decision: Decision | undefined): Step<void> => {
  const open = Effect.flatMap(whileClientStays(upgrade, ask(upgrade)), (answer) =>
    answer === undefined ? Effect.void : relay(upgrade, answer)
  )
  const { outstanding, settings } = upgrade.workings
  switch (decision?.kind) {
    case "drop-request":
      return lose(upgrade, decision.silent)
    case "drop-answer":
      return Effect.andThen(ask(upgrade), lose(upgrade, decision.silent))
    case "delay":
    case "half-open": {
      const hold = outstanding.while(Effect.sleep(decision.ms))
      if (decision.side === "request") return Effect.andThen(hold, open)
      return Effect.flatMap(ask(upgrade), (answer) => Effect.andThen(hold, relay(upgrade, answer)))
    }
    case "cut":
      return Effect.flatMap(ask(upgrade), (answer) => writePart(upgrade.socket, answerHead(answer), decision.share))
    case "balancer": {
      const asked = Effect.raceFirst(ask(upgrade), Effect.sleep(settings().balancerMs))
      const answered = Effect.sync(() => void upgrade.socket.end(balancerBytes(decision.status)))
      return decision.delivered ? Effect.andThen(asked, answered) : answered
    }
    default:
      return open
  }
}

/** Opens a tunnel to a server, or does with the request what was decided. */
export const upgrade = (
  workings: Workings,
  { decision }: Verdict,
  connection: number,
  request: IncomingMessage,
  socket: Socket
): Effect.Effect<void> => {
  const made: Upgrade = { workings, connection, head: upgradeHeadOf(request), socket }
  return Effect.scoped(act(made, decision)).pipe(
    Effect.catch(({ message }) =>
      Effect.sync(() => {
        workings.log.trouble(connection, message)
        socket.resetAndDestroy()
      })
    ),
    Effect.ensuring(
      Effect.sync(() => {
        if (!socket.writableEnded) socket.destroy()
      })
    )
  )
}
