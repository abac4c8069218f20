/** `jobwire jobs list`: pages of jobs by filter and order. */
import { type JobRecord, JobState, JobStore, Limits, type ListOptions } from "@jobwire/protocol"
import { Clock, Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { provideStore } from "../../Connect.ts"
import { connectionFlags } from "../../flags/Connection.ts"
import { metadataFlag } from "../../flags/Metadata.ts"
import { jsonFlag, switchFlag } from "../../flags/Switch.ts"
import { wholeFlag } from "../../flags/Whole.ts"
import { jobTable } from "../../output/Job.ts"
import { TerminalWidth } from "../../output/Table.ts"
import { plural } from "../../output/Text.ts"

const flags = {
  queue: Flag.String("queue").pipe(
    Flag.withAlias("q"),
    Flag.withMetavar("name"),
    Flag.withDescription("Only jobs of this queue"),
    Flag.optional
  ),
  name: Flag.String("name").pipe(
    Flag.withAlias("n"),
    Flag.withMetavar("name"),
    Flag.withDescription("Only jobs of this name"),
    Flag.optional
  ),
  states: Flag.Literals("state", JobState.literals).pipe(
    Flag.withAlias("s"),
    Flag.withMetavar("state"),
    Flag.withDescription("Only jobs in this state; repeat it for several"),
    Flag.atLeast(0)
  ),
  metadata: metadataFlag.pipe(Flag.withDescription("Only jobs with this entry; repeat it for several")),
  orderBy: Flag.Literals("order-by", ["enqueued", "run-at", "finished"]).pipe(
    Flag.withDescription("Which time orders the list (enqueued unless given)"),
    Flag.withDefault("enqueued")
  ),
  oldestFirst: switchFlag("oldest-first", "Oldest first (newest unless given)"),
  limit: wholeFlag("limit", 1, Limits.defaults.pageLength).pipe(
    Flag.withAlias("l"),
    Flag.withDescription("Jobs a page (50 unless given)"),
    Flag.withDefault(50)
  ),
  cursor: Flag.String("cursor").pipe(
    Flag.withMetavar("cursor"),
    Flag.withDescription("Go on behind a page, by the cursor it printed; the filters must be the same"),
    Flag.optional
  ),
  all: switchFlag("all", "Every page, one after another")
}

const orderFields = { enqueued: "enqueuedAt", "run-at": "runAt", finished: "finishedAt" } as const

type Input = Command.Command.Config.Infer<typeof flags>

const toOptions = (input: Input): ListOptions => ({
  queue: Option.getOrUndefined(input.queue),
  name: Option.getOrUndefined(input.name),
  states: input.states.length === 0 ? undefined : input.states,
  metadata: Object.keys(input.metadata).length === 0 ? undefined : input.metadata,
  orderBy: orderFields[input.orderBy],
  order: input.oldestFirst ? "asc" : "desc",
  limit: input.limit
})

/** Runs `use` on each page, from `cursor` on, and gives the cursor behind the last one. */
const eachPage = Effect.fnUntraced(function* <E, R>(
  options: ListOptions,
  cursor: string | undefined,
  all: boolean,
  use: (items: ReadonlyArray<JobRecord>) => Effect.Effect<void, E, R>
) {
  const store = yield* JobStore.JobStore
  let from = cursor
  for (;;) {
    const page = yield* store.list({ ...options, cursor: from })
    yield* use(page.items)
    if (!all || page.cursor === undefined) return page.cursor
    from = page.cursor
  }
})

const printLines = (items: ReadonlyArray<JobRecord>) =>
  Effect.forEach(items, (job) => Console.log(JSON.stringify(job)), { discard: true })

const listAsJson = Effect.fnUntraced(function* (input: Input) {
  const cursor = Option.getOrUndefined(input.cursor)
  if (input.all) {
    yield* eachPage(toOptions(input), cursor, true, printLines)
    return
  }
  const store = yield* JobStore.JobStore
  const page = yield* store.list({ ...toOptions(input), cursor })
  yield* Console.log(JSON.stringify({ items: page.items, cursor: page.cursor ?? null }))
})

const listAsTable = Effect.fnUntraced(function* (input: Input) {
  const limit = yield* TerminalWidth
  let found = 0
  const print = Effect.fnUntraced(function* (items: ReadonlyArray<JobRecord>) {
    const lines = jobTable(items, yield* Clock.currentTimeMillis, limit).split("\n")
    const isFirst = found === 0
    found += items.length
    if (items.length > 0) yield* Console.log((isFirst ? lines : lines.slice(1)).join("\n"))
  })
  const cursor = yield* eachPage(toOptions(input), Option.getOrUndefined(input.cursor), input.all, print)
  if (found === 0) yield* Console.error("no jobs match")
  if (cursor !== undefined) {
    yield* Console.error(`${plural(found, "job")} shown, more follow: --all, or --cursor ${JSON.stringify(cursor)}`)
  }
})

/** The command. */
export const list = Command.make(
  "list",
  { ...flags, json: jsonFlag, ...connectionFlags },
  Effect.fn("jobs.list")(function* (input) {
    yield* input.json ? listAsJson(input) : listAsTable(input)
  })
).pipe(
  provideStore,
  Command.withAlias("ls"),
  Command.withDescription(
    "Lists jobs, newest first. With --json a page is {items, cursor}; with --all and --json every line is a job."
  ),
  Command.withShortDescription("List jobs by filter"),
  Command.withExamples([
    { command: "jobwire jobs list --state failed", description: "What failed lately" },
    { command: "jobwire jobs list --queue mail --state waiting --oldest-first", description: "Who is next in line" },
    { command: "jobwire jobs list --all --json | jq -r .id", description: "Every id" }
  ])
)
