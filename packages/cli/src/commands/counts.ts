/** `jobwire counts`: how many jobs are in each state. */
import { type JobCounts, JobStore } from "@jobwire/protocol"
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { provideStore } from "../Connect.ts"
import { connectionFlags } from "../flags/Connection.ts"
import { jsonFlag } from "../flags/Switch.ts"
import { table, TerminalWidth } from "../output/Table.ts"

const queue = Flag.String("queue").pipe(
  Flag.withAlias("q"),
  Flag.withMetavar("name"),
  Flag.withDescription("Only this queue (all unless given)"),
  Flag.optional
)

const render = (counts: JobCounts, limit: number): string =>
  table(
    [{ heading: "STATE" }, { heading: "JOBS", align: "right" }],
    Object.entries(counts).map(([state, count]) => [state, count.toLocaleString("en-US")]),
    limit
  )

/** The command. */
export const counts = Command.make(
  "counts",
  { queue, json: jsonFlag, ...connectionFlags },
  Effect.fn("counts")(function* ({ json, queue }) {
    const store = yield* JobStore.JobStore
    const found = yield* store.counts(Option.getOrUndefined(queue))
    yield* Console.log(json ? JSON.stringify(found) : render(found, yield* TerminalWidth))
  })
).pipe(
  provideStore,
  Command.withDescription("How many jobs are in each state, in one queue or in all."),
  Command.withShortDescription("How many jobs are in each state"),
  Command.withExamples([
    { command: "jobwire counts", description: "All queues together" },
    { command: "jobwire counts --queue mail --json", description: "One queue, for a program" }
  ])
)
