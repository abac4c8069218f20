/** What a request and a schedule say alike about the runs to come. */
import { Schema } from "effect"
import { defaulted, maybe } from "./Field.ts"
import { JsonValue } from "./Json.ts"
import { BackoffPolicy, KeepPolicy } from "./Policy.ts"
import { DurationMs, Metadata } from "./Scalars.ts"

/** The fields of both, with the same defaults. */
export const runFields = {
  payload: maybe(JsonValue),
  metadata: defaulted(Metadata, {}),
  priority: defaulted(Schema.Int, 0),
  attemptsMax: defaulted(Schema.Int, 1),
  backoff: maybe(BackoffPolicy),
  keep: maybe(KeepPolicy),
  timeoutMs: maybe(DurationMs)
}
