/** What keeps a proxy from starting, or a setting from being taken. */
import { Schema } from "effect"

/** A setting is not what it may be, or the proxy cannot listen or write where it was told to. */
export class FaultsError extends Schema.TaggedError<FaultsError>()("FaultsError", {
  message: Schema.String
}) {}

/** What a thrown thing says of itself. */
export const textOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
