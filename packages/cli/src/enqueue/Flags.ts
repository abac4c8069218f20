/** What a producer says about a job, as flags. */
import { EnqueueRequest, type KeepPolicy } from "@jobwire/protocol"
import { Option } from "effect"
import { type Command, Flag } from "effect/cli"
import { durationFlag } from "../flags/Duration.ts"
import { metadataFlag } from "../flags/Metadata.ts"
import { backoffFlag, keepFlag } from "../flags/Policy.ts"
import { switchFlag } from "../flags/Switch.ts"
import { wholeFlag } from "../flags/Whole.ts"

const mostInteger = 2_147_483_647

const keep = (state: string, word: string) =>
  keepFlag(`keep-${state}`).pipe(
    Flag.withDescription(
      `How many ${word} jobs of this name to keep, and how long: 100, 7d or 100,7d (all unless given)`
    ),
    Flag.optional
  )

/** The flags. */
export const jobFlags = {
  queue: Flag.String("queue").pipe(
    Flag.withAlias("q"),
    Flag.withMetavar("name"),
    Flag.withDescription('The queue ("default" unless given)'),
    Flag.withDefault("default")
  ),
  id: Flag.String("id").pipe(
    Flag.withMetavar("id"),
    Flag.withDescription("The job's id: a job that has it already, in any state, is left alone. With a file: ID-LINE"),
    Flag.optional
  ),
  delay: durationFlag("delay").pipe(Flag.withDescription("Not to run before this has passed"), Flag.withDefault(0)),
  priority: wholeFlag("priority", -mostInteger, mostInteger).pipe(
    Flag.withDescription("Higher runs first (0 unless given)"),
    Flag.withDefault(0)
  ),
  attempts: wholeFlag("attempts", 1, mostInteger).pipe(
    Flag.withDescription("How often it may run, the first run included (1 unless given)"),
    Flag.withDefault(1)
  ),
  backoff: backoffFlag("backoff").pipe(
    Flag.withDescription("How long a failed run waits before the next: 10s, or exponential:1s:2"),
    Flag.optional
  ),
  timeout: durationFlag("timeout").pipe(Flag.withDescription("How long one run may take"), Flag.optional),
  metadata: metadataFlag.pipe(Flag.withDescription("An entry that lists can be filtered by; repeat it for several")),
  keepCompleted: keep("completed", "completed"),
  keepFailed: keep("failed", "failed"),
  keepCancelled: keep("cancelled", "cancelled"),
  dedupe: Flag.String("dedupe").pipe(
    Flag.withMetavar("key"),
    Flag.withDescription("At most one unfinished job with this name and key: another one is dropped"),
    Flag.optional
  ),
  dedupeTtl: durationFlag("dedupe-ttl").pipe(
    Flag.withDescription("Hold the key this long instead, whether or not its job has finished"),
    Flag.optional
  ),
  dedupeExtend: switchFlag("dedupe-extend", "A dropped job starts the time of --dedupe-ttl again"),
  dedupeReplace: switchFlag("dedupe-replace", "While the keyed job is delayed, replace what it holds")
}

type Input = Command.Command.Config.Infer<typeof jobFlags>

const keepPolicy = (input: Input): KeepPolicy | undefined => {
  const completed = Option.getOrUndefined(input.keepCompleted)
  const failed = Option.getOrUndefined(input.keepFailed)
  const cancelled = Option.getOrUndefined(input.keepCancelled)
  return completed === undefined && failed === undefined && cancelled === undefined
    ? undefined
    : { completed, failed, cancelled }
}

/** The request that the flags describe, without id and payload. */
export const toRequest = (name: string, input: Input): EnqueueRequest =>
  EnqueueRequest.make({
    name,
    queue: input.queue,
    delayMs: input.delay,
    priority: input.priority,
    attemptsMax: input.attempts,
    backoff: Option.getOrUndefined(input.backoff),
    timeoutMs: Option.getOrUndefined(input.timeout),
    metadata: input.metadata,
    keep: keepPolicy(input),
    dedupe: Option.getOrUndefined(
      Option.map(input.dedupe, (key) => ({
        key,
        ttlMs: Option.getOrUndefined(input.dedupeTtl),
        extend: input.dedupeExtend,
        replace: input.dedupeReplace
      }))
    )
  })

/** What is wrong with flags that only make sense together. */
export const problemOf = (input: Input, isFile: boolean): string | undefined => {
  const hasDetails = Option.isSome(input.dedupeTtl) || input.dedupeExtend || input.dedupeReplace
  if (hasDetails && Option.isNone(input.dedupe))
    return "--dedupe-ttl, --dedupe-extend and --dedupe-replace need --dedupe"
  if (isFile && Option.isSome(input.dedupe)) {
    return "with a file, --dedupe would keep one of its jobs only: use --lines request and a dedupe in each line"
  }
  return undefined
}
