/** `jobwire-faults`: a proxy as a process of its own. */
import { Console, Effect, Option, Result, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import * as Stdio from "effect/Stdio"
import * as Faults from "../Faults.ts"
import { summary } from "./Summary.ts"

const parseKinds = (text: string): Faults.KindChoice => {
  const parts = text.split(",").map((part) => part.trim())
  // Whether they are kinds, the settings say.
  return Object.fromEntries(
    parts.map((part) => {
      const [name = "", weight = "1"] = part.split("=")
      return [name, Number(weight)]
    })
  )
}

const { defaults } = Faults

const milliseconds = (name: string, unlessGiven: number, description: string) =>
  Flag.Int(name).pipe(
    Flag.withMetavar("milliseconds"),
    Flag.withDescription(`${description} (${unlessGiven} unless given)`),
    Flag.withDefault(unlessGiven)
  )

const share = (name: string, unlessGiven: number, description: string) =>
  Flag.Finite(name).pipe(
    Flag.withMetavar("0 to 1"),
    Flag.withDescription(`${description} (${unlessGiven} unless given)`),
    Flag.withDefault(unlessGiven)
  )

const config = {
  upstreams: Flag.String("upstream").pipe(
    Flag.withMetavar("url"),
    Flag.withDescription("A server, http://host:port; repeat it for several, which are taken in turn"),
    Flag.atLeast(1)
  ),
  host: Flag.String("host").pipe(
    Flag.withMetavar("address"),
    Flag.withDescription("The address to listen on (127.0.0.1 unless given: this machine only)"),
    Flag.withDefault("127.0.0.1")
  ),
  port: Flag.Int("port").pipe(
    Flag.withMetavar("number"),
    Flag.withDescription("The port; a free one unless given"),
    Flag.withDefault(0)
  ),
  seed: Flag.Int("seed").pipe(
    Flag.withMetavar("number"),
    Flag.withDescription("What all decisions come from; one is drawn, and told, unless given"),
    Flag.optional
  ),
  rate: share("rate", defaults.rate, "How much of what comes is hit"),
  kinds: Flag.String("kinds").pipe(
    Flag.withMetavar("kind,kind=weight"),
    Flag.withDescription(`Which faults there are (all unless given): ${Faults.kinds.join(", ")}`),
    Flag.map(parseKinds),
    Flag.withDefault(Faults.kinds)
  ),
  silentShare: share("silent-share", defaults.silentShare, "Of what is dropped, how much is lost without a sign"),
  apartShare: share("apart-share", defaults.apartShare, "Of WebSocket repeats, how many come over another connection"),
  delayMs: milliseconds("delay-ms", defaults.delayMs, "The longest delay"),
  lateMs: milliseconds("late-ms", defaults.lateMs, "How long after the first a late repeat comes, at most"),
  halfOpenMs: milliseconds("half-open-ms", defaults.halfOpenMs, "The longest silence"),
  refuseMs: milliseconds("refuse-ms", defaults.refuseMs, "How long connections are refused, at most"),
  balancerMs: milliseconds("balancer-ms", defaults.balancerMs, "How long a balancer waits for the server's answer"),
  logFile: Flag.String("log").pipe(
    Flag.withMetavar("path"),
    Flag.withDescription("Write every hit to this file, a line of JSON each"),
    Flag.optional
  )
}

const parseChange = (line: string): Result.Result<object, string> => {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return Result.succeed(value)
  } catch {
    // The answer is the same for what is no JSON and for what is no object.
  }
  return Result.fail('a change is a line of JSON such as {"rate": 0}')
}

/** Each line of standard input changes settings. Its end changes nothing. */
const takeChanges = Effect.fnUntraced(function* (proxy: Faults.FaultProxy["Service"]) {
  const { stdin } = yield* Stdio.Stdio
  const take = Effect.fnUntraced(function* (line: string) {
    if (line.trim() === "") return
    const changes = yield* Effect.fromResult(parseChange(line))
    yield* Effect.mapError(proxy.change(changes), ({ message }) => message)
    yield* Console.error(`changed: ${line.trim()}`)
  })
  yield* stdin.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) => Effect.catch(take(line), (problem) => Console.error(`not changed: ${problem}`)))
  )
})

/** The command. */
export const jobwireFaults = Command.make(
  "jobwire-faults",
  config,
  Effect.fn("jobwire-faults")(function* ({ logFile, seed, ...settings }) {
    const proxy = yield* Faults.start({
      ...settings,
      seed: Option.getOrUndefined(seed),
      logFile: Option.getOrUndefined(logFile)
    })
    yield* Effect.addFinalizer(() => Effect.flatMap(proxy.counts, (counts) => Console.error(summary(counts))))
    yield* Console.log(proxy.url)
    yield* Console.error(`seed ${proxy.seed}; what comes goes to ${settings.upstreams.join(", ")}`)
    yield* Effect.forkScoped(Effect.ignore(takeChanges(proxy)))
    yield* Effect.never
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Stands between a client and its servers and breaks the network on purpose, by a seed. Prints its URL on stdout when it is\n  " +
      'ready; all else goes to stderr. A line such as {"rate": 0} on stdin changes settings. SIGINT and SIGTERM end it.'
  ),
  Command.withExamples([
    {
      command: "jobwire-faults --upstream http://127.0.0.1:7077 --seed 42 --rate 0.2 --log faults.jsonl",
      description: "A fifth of what comes is hit, by every kind"
    },
    {
      command: "jobwire-faults --upstream http://127.0.0.1:7077 --kinds drop-answer,repeat,late-repeat",
      description: "Only what makes a call happen more than once"
    },
    {
      command: "jobwire-faults --upstream http://127.0.0.1:7001 --upstream http://127.0.0.1:7002 --rate 0",
      description: "A balancer before two servers, and no fault"
    }
  ])
)
