/**
 * Who holds which token: the credentials of a server's callers. Only SHA-256 hashes are kept, and every check looks at all
 * of them, so neither memory nor timing gives a token away.
 */
import { Limits, Scope } from "@jobwire/protocol"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { hash, timingSafeEqual } from "node:crypto"
import { defaultStoreId } from "../JobStores.ts"

/** One token and what it opens. */
export interface TokenEntry {
  /** 1 to 1024 visible ASCII characters, so that it fits a header as it is. */
  readonly token: Redacted.Redacted<string>
  /** Whose jobs the holder works with; the default tenant unless given. */
  readonly tenant?: string | undefined
  /** What the holder may do; everything unless given. */
  readonly scopes?: Iterable<Scope> | undefined
  /** What to call the token in messages. It is not a secret. */
  readonly name?: string | undefined
}

/** What a token opens. */
export interface Grant {
  readonly tenant: string
  readonly scopes: ReadonlySet<Scope>
}

/** A token entry cannot be used. The message says which and why, and never holds the token. */
export class TokenEntryError extends Schema.TaggedError<TokenEntryError>()("TokenEntryError", {
  message: Schema.String
}) {}

/** Every scope there is. */
export const allScopes: ReadonlySet<Scope> = new Set(Scope.literals)

/** What everybody may do at a server that knows no token. */
export const openGrant: Grant = { tenant: defaultStoreId.tenant, scopes: allScopes }

/** Tells what a token opens. */
export class Tokens extends Context.Service<
  Tokens,
  {
    /** No token is known, so whoever reaches the server is let in. */
    readonly open: boolean
    /** What the token opens, or none when nobody was given it. */
    readonly check: (token: Redacted.Redacted<string>) => Effect.Effect<Option.Option<Grant>>
  }
>()("@jobwire/server/Tokens") {}

const tokenShape = /^[\x21-\x7e]{1,1024}$/

const digest = (token: Redacted.Redacted<string>): Buffer => hash("sha256", Redacted.value(token), "buffer")

interface HashedEntry {
  readonly label: string
  readonly digest: Buffer
  readonly grant: Grant
}

const hashEntry = (entry: TokenEntry, index: number): Effect.Effect<HashedEntry, TokenEntryError> => {
  const label = entry.name === undefined ? `token ${index + 1}` : `token ${JSON.stringify(entry.name)}`
  const refuse = (problem: string) => Effect.fail(new TokenEntryError({ message: `${label} ${problem}` }))
  const { scopes = allScopes, tenant = defaultStoreId.tenant } = entry
  const given = new Set(scopes)
  const unknown = [...given].find((scope) => !allScopes.has(scope))
  if (Redacted.value(entry.token).trim() === "") return refuse("is blank: give it a value nobody can guess")
  if (!tokenShape.test(Redacted.value(entry.token))) {
    return refuse("must have 1 to 1024 visible ASCII characters and no spaces")
  }
  if (tenant.length === 0 || tenant.length > Limits.defaults.nameLength) {
    return refuse(`names a tenant of ${tenant.length} characters: from 1 to ${Limits.defaults.nameLength} are allowed`)
  }
  if (given.size === 0) return refuse(`has no scope: give it some of ${Scope.literals.join(", ")}`)
  if (unknown !== undefined) {
    return refuse(`has the unknown scope ${JSON.stringify(unknown)}: there are ${Scope.literals.join(", ")}`)
  }
  return Effect.succeed({ label, digest: digest(entry.token), grant: { tenant, scopes: given } })
}

/** A fixed list of tokens. An empty list makes an open server. */
export const make = Effect.fnUntraced(function* (entries: ReadonlyArray<TokenEntry>) {
  const hashed: Array<HashedEntry> = []
  for (const entry of entries) {
    const next = yield* hashEntry(entry, hashed.length)
    const twin = hashed.find((other) => other.digest.equals(next.digest))
    if (twin !== undefined) {
      return yield* new TokenEntryError({ message: `${next.label} has the same value as ${twin.label}` })
    }
    hashed.push(next)
  }
  return Tokens.of({
    open: hashed.length === 0,
    check: (token) =>
      Effect.sync(() => {
        const asked = digest(token)
        let grant: Grant | undefined
        // No early end: the time a check takes must not depend on which entry matches.
        for (const entry of hashed) if (timingSafeEqual(asked, entry.digest)) grant = entry.grant
        return Option.fromUndefinedOr(grant)
      })
  })
})

/** The service for a fixed list of tokens. */
export const layer = (entries: ReadonlyArray<TokenEntry>): Layer.Layer<Tokens, TokenEntryError> =>
  Layer.effect(Tokens, make(entries))
