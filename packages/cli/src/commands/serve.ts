/** `jobwire serve`: a server with its store, in one process. */
import { JobStoreServer } from "@jobwire/server"
import { Console, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { HttpServer } from "effect/http"
import { durationFlag } from "../flags/Duration.ts"
import { jsonFlag } from "../flags/Switch.ts"
import { wholeFlag } from "../flags/Whole.ts"
import { CommandFailure } from "../output/Failure.ts"
import { plural } from "../output/Text.ts"
import { readTokens, tokenForm } from "../serve/Credentials.ts"
import { limitFlags, limitsOf } from "../serve/Limits.ts"
import { choosePlace, describePlace, placeFlags } from "../serve/Place.ts"
import { layerStores } from "../serve/Stores.ts"
import { StopRequest } from "../Signals.ts"

const config = {
  host: Flag.String("host").pipe(
    Flag.withMetavar("address"),
    Flag.withDescription("The address to listen on (127.0.0.1 unless given: this machine only)"),
    Flag.withDefault("127.0.0.1")
  ),
  port: wholeFlag("port", 0, 65_535).pipe(
    Flag.withDescription("The port; 0 takes a free one (7077 unless given)"),
    Flag.withDefault(7077)
  ),
  ...placeFlags,
  historyTtl: durationFlag("history-ttl").pipe(
    Flag.withDescription("Forget finished jobs after this long (kept unless given)"),
    Flag.optional
  ),
  tokens: Flag.Redacted("token").pipe(
    Flag.withMetavar("token"),
    Flag.withDescription(`Who may come in; repeat it for several: ${tokenForm}`),
    Flag.atLeast(0)
  ),
  tokenFile: Flag.String("token-file").pipe(
    Flag.withMetavar("path"),
    Flag.withDescription("More tokens, one a line; # begins a comment"),
    Flag.optional
  ),
  ...limitFlags,
  json: jsonFlag
}

type Input = Command.Command.Config.Infer<typeof config>

// What keeps a server from starting says by itself what to do.
const cannotStart = (error: CommandFailure | { readonly message: string }): CommandFailure =>
  error instanceof CommandFailure ? error : new CommandFailure({ message: error.message })

const layerServer = Effect.fnUntraced(function* (input: Input) {
  const tokens = yield* readTokens(input.tokens, input.tokenFile)
  const place = yield* choosePlace(input)
  const who = tokens.length === 0 ? "no tokens: open to this machine only" : plural(tokens.length, "token")
  const server = JobStoreServer.layerHttp({ host: input.host, port: input.port, tokens, ...limitsOf(input) })
  const stores = layerStores(place, Option.getOrUndefined(input.historyTtl))
  return { layer: Layer.provide(server, stores), about: `jobs are kept ${describePlace(place)}; ${who}` }
})

/** The command. */
export const serve = Command.make(
  "serve",
  config,
  Effect.fn("serve")(function* (input) {
    const stop = yield* StopRequest
    yield* stop.handle
    const { about, layer } = yield* layerServer(input)
    yield* Effect.gen(function* () {
      const url = HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
      yield* Console.log(input.json ? JSON.stringify({ url }) : url)
      yield* Console.error(about)
      yield* stop.asked
      yield* Console.error("stopping: what runs is finished; a second signal ends at once")
    }).pipe(Effect.provide(layer), Effect.mapError(cannotStart))
  })
).pipe(
  Command.withDescription(
    "Starts a server and prints its URL on stdout when it is ready; all else goes to stderr. SIGTERM and SIGINT stop it in\n  " +
      "good order. Without tokens it is open to this machine only. Better than --token, which a list of processes shows, are\n  " +
      "JOBWIRE_TOKENS (one a word) and --token-file. When DATABASE_URL is set and no flag says where, jobs are kept there."
  ),
  Command.withShortDescription("Start a server"),
  Command.withExamples([
    { command: "jobwire serve", description: "On 127.0.0.1:7077, kept in ./.jobwire" },
    { command: "jobwire serve --memory --port 0", description: "For a try, on a free port" },
    {
      command: "DATABASE_URL=postgres://… jobwire serve --migrate",
      description: "In PostgreSQL; any number of servers may share it"
    },
    {
      command: "JOBWIRE_TOKENS='name=app;scopes=produce,read;token=…' jobwire serve --host 0.0.0.0",
      description: "For other machines: with a token only"
    }
  ])
)
