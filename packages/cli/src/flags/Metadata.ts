/** `--metadata key=value`, as often as needed. */
import type { Metadata } from "@jobwire/protocol"
import { Flag } from "effect/cli"

const parseMetadata = (entries: ReadonlyArray<string>): Metadata => {
  const pairs = entries.map((entry) => {
    const at = entry.indexOf("=")
    if (at <= 0) throw new Error(`key=value, and one is ${JSON.stringify(entry)}`)
    return [entry.slice(0, at), entry.slice(at + 1)] as const
  })
  return Object.fromEntries(pairs)
}

/** Entries of a flat string map; empty when the flag is not given. */
export const metadataFlag = Flag.String("metadata").pipe(
  Flag.withMetavar("key=value"),
  Flag.atLeast(0),
  Flag.mapTryCatch(parseMetadata, (error) => (error instanceof Error ? error.message : String(error)))
)
