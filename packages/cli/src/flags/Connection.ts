/** Which store the command talks to: `--url`, `--token`, `--store`, or the environment. */
import { Config, Effect, type Option, type Redacted } from "effect"
import { CliError, Flag } from "effect/cli"

/** Where the server of `jobwire serve` listens unless told otherwise. */
export const defaultUrl = "http://127.0.0.1:7077"

/** A server, a store on it, and the credentials for it. */
export interface Connection {
  readonly url: string
  readonly token: Option.Option<Redacted.Redacted<string>>
  readonly store: Option.Option<string>
}

const invalidUrl = (value: string, expected: string) =>
  new CliError.InvalidValue({ option: "url", value, expected, kind: "flag" })

const parseUrl = (text: string): Effect.Effect<string, CliError.InvalidValue> => {
  const url = URL.parse(text)
  if (url !== null && (url.username !== "" || url.password !== "")) {
    // The message repeats the value, and a password must not be printed.
    url.username = ""
    url.password = ""
    return Effect.fail(invalidUrl(url.href, "a URL without user and password; use JOBWIRE_TOKEN"))
  }
  return url !== null && /^(https?|wss?):$/.test(url.protocol)
    ? Effect.succeed(text)
    : Effect.fail(invalidUrl(text, `an http or https URL, such as ${defaultUrl}`))
}

/** The flags of every command that talks to a server. */
export const connectionFlags = {
  url: Flag.String("url").pipe(
    Flag.withMetavar("url"),
    Flag.withDescription(`The server (JOBWIRE_URL; ${defaultUrl} unless given)`),
    Flag.withFallbackConfig(Config.String("JOBWIRE_URL")),
    Flag.withDefault(defaultUrl),
    Flag.mapEffect(parseUrl)
  ),
  token: Flag.Redacted("token").pipe(
    Flag.withMetavar("token"),
    Flag.withDescription("The credentials; better in JOBWIRE_TOKEN, where a list of processes does not show them"),
    Flag.withFallbackConfig(Config.Redacted("JOBWIRE_TOKEN")),
    Flag.optional
  ),
  store: Flag.String("store").pipe(
    Flag.withMetavar("name"),
    Flag.withDescription('The store on that server (JOBWIRE_STORE; "default" unless given)'),
    Flag.withFallbackConfig(Config.String("JOBWIRE_STORE")),
    Flag.optional
  )
}
