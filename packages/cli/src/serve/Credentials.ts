/**
 * The tokens of a server as text: `TOKEN`, or `name=ci;tenant=acme;scopes=produce,read;token=TOKEN`. They come from
 * `--token`, from a file of one a line, and from `JOBWIRE_TOKENS`, whose lines or words are one each.
 */
import { Scope } from "@jobwire/protocol"
import type { Tokens } from "@jobwire/server"
import { Config, Effect, FileSystem, Option, Redacted, Result } from "effect"
import * as ExitCode from "../ExitCode.ts"
import { CommandFailure } from "../output/Failure.ts"
import { fileProblem } from "../output/FileProblem.ts"

/** What a token may be, as help and errors say it. */
export const tokenForm = "TOKEN, or name=NAME;tenant=TENANT;scopes=produce,work,read,admin;token=TOKEN"

const fieldNames = ["name", "tenant", "scopes", "token"] as const
type FieldName = (typeof fieldNames)[number]

const isFieldName = (text: string): text is FieldName => fieldNames.some((name) => name === text)

const isScope = (text: string): text is Scope => Scope.literals.some((scope) => scope === text)

type Fields = Partial<Record<FieldName, string>>

// No message holds any part of the text: it may be the secret.
const readFields = (text: string): Result.Result<Fields, string> => {
  const fields: Fields = {}
  for (const part of text.split(";")) {
    const at = part.indexOf("=")
    const name = part.slice(0, at).trim()
    if (at === -1 || !isFieldName(name)) return Result.fail(`has a field that is none of ${fieldNames.join(", ")}`)
    if (fields[name] !== undefined) return Result.fail(`has the field ${name} twice`)
    fields[name] = part.slice(at + 1).trim()
  }
  return Result.succeed(fields)
}

const readScopes = (text: string): Result.Result<ReadonlyArray<Scope>, string> => {
  const scopes = text.split(",").map((scope) => scope.trim())
  return scopes.every(isScope)
    ? Result.succeed(scopes)
    : Result.fail(`has a scope that is none of ${Scope.literals.join(", ")}`)
}

/** Reads one token. A text without a field `token=` is the token itself. The problem never holds any of it. */
export const parseToken = (text: string): Result.Result<Tokens.TokenEntry, string> => {
  const trimmed = text.trim()
  if (trimmed === "") return Result.fail("is blank")
  if (!/(^|;)\s*token=/.test(trimmed)) return Result.succeed({ token: Redacted.make(trimmed) })
  const fields = readFields(trimmed)
  if (Result.isFailure(fields)) return Result.fail(fields.failure)
  const { name, scopes, tenant, token = "" } = fields.success
  if (token === "") return Result.fail("is blank")
  const allowed = scopes === undefined ? Result.succeed(undefined) : readScopes(scopes)
  return Result.map(allowed, (scopes) => ({ token: Redacted.make(token), name, tenant, scopes }))
}

const refuse = (message: string) =>
  new CommandFailure({ message, hint: `a token is ${tokenForm}`, exitCode: ExitCode.usage })

interface Given {
  readonly from: string
  readonly text: string
}

const readFile = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs
    .readFileString(path)
    .pipe(
      Effect.mapError(
        (error) =>
          new CommandFailure({ message: `cannot read the token file ${JSON.stringify(path)}: ${fileProblem(error)}` })
      )
    )
  const given = text
    .split("\n")
    .map((line, index): Given => ({ from: `line ${index + 1} of ${path}`, text: line.trim() }))
  return given.filter(({ text }) => text !== "" && !text.startsWith("#"))
})

const fromEnvironment = Effect.map(Effect.orDie(Config.option(Config.Redacted("JOBWIRE_TOKENS"))), (tokens) => {
  const words = Option.match(tokens, { onNone: () => [], onSome: (text) => Redacted.value(text).split(/\s+/) })
  return words
    .filter((word) => word !== "")
    .map((text, index): Given => ({ from: `token ${index + 1} of JOBWIRE_TOKENS`, text }))
})

/** Every token that the server is given. */
export const readTokens = Effect.fn("readTokens")(function* (
  flags: ReadonlyArray<Redacted.Redacted<string>>,
  file: Option.Option<string>
) {
  const given: ReadonlyArray<Given> = [
    ...flags.map((flag, index): Given => ({ from: `--token number ${index + 1}`, text: Redacted.value(flag) })),
    ...(Option.isSome(file) ? yield* readFile(file.value) : []),
    ...(yield* fromEnvironment)
  ]
  return yield* Effect.forEach(given, ({ from, text }) => {
    const entry = parseToken(text)
    return Result.isSuccess(entry)
      ? Effect.succeed({ name: from, ...dropAbsent(entry.success) })
      : Effect.fail(refuse(`${from} ${entry.failure}`))
  })
})

const dropAbsent = ({ name, ...entry }: Tokens.TokenEntry): Tokens.TokenEntry =>
  name === undefined ? entry : { name, ...entry }
