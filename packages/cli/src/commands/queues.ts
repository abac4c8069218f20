/** `jobwire queues`: which queues there are, and pausing them. */
import { type JobCounts, JobStore, type QueueName } from "@jobwire/protocol"
import { Console, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { provideStore } from "../Connect.ts"
import { connectionFlags } from "../flags/Connection.ts"
import { jsonFlag } from "../flags/Switch.ts"
import { type Column, table, TerminalWidth } from "../output/Table.ts"
import { oneLine } from "../output/Text.ts"

interface QueueSummary {
  readonly queue: QueueName
  readonly paused: boolean
  readonly counts: JobCounts
}

const sampleSize = 500

// No operation names the queues, so they are found where they show: among the paused ones, the newest jobs, and the oldest
// of each state in which a job can stay for long.
const findQueues = Effect.fnUntraced(function* (paused: ReadonlyArray<QueueName>) {
  const store = yield* JobStore.JobStore
  const pages = yield* Effect.all(
    [
      store.list({ limit: sampleSize }),
      store.list({ limit: sampleSize, order: "asc", states: ["waiting", "delayed", "active", "waiting-children"] })
    ],
    { concurrency: 2 }
  )
  return new Set([...paused, ...pages.flatMap(({ items }) => items.map(({ queue }) => queue))])
})

const columns: ReadonlyArray<Column> = [
  { heading: "QUEUE", shrinkTo: 8 },
  { heading: "STATE" },
  ...["WAITING", "DELAYED", "ACTIVE", "PARKED", "COMPLETED", "FAILED", "CANCELLED"].map(
    (heading) => ({ heading, align: "right" }) as const
  )
]

const render = (queues: ReadonlyArray<QueueSummary>, limit: number): string =>
  table(
    columns,
    queues.map(({ counts, paused, queue }) => [
      queue,
      paused ? "paused" : "runs",
      ...Object.values(counts).map((count) => count.toLocaleString("en-US"))
    ]),
    limit
  )

const list = Command.make(
  "list",
  {
    names: Argument.String("queue").pipe(
      Argument.withDescription("Only these queues; without any, those that are found among the jobs"),
      Argument.variadic()
    ),
    json: jsonFlag,
    ...connectionFlags
  },
  Effect.fn("queues.list")(function* ({ json, names }) {
    const store = yield* JobStore.JobStore
    const paused = yield* store.pausedQueues()
    const wanted = names.length > 0 ? names : [...(yield* findQueues(paused))].toSorted()
    const queues = yield* Effect.forEach(
      wanted,
      (queue) => Effect.map(store.counts(queue), (counts) => ({ queue, paused: paused.includes(queue), counts })),
      { concurrency: 4 }
    )
    if (json) return yield* Console.log(JSON.stringify({ queues }))
    if (queues.length === 0) return yield* Console.error("no queue has jobs or is paused")
    yield* Console.log(render(queues, yield* TerminalWidth))
  })
).pipe(
  provideStore,
  Command.withAlias("ls"),
  Command.withDescription(
    "Lists queues with their counts. A queue has no record of its own: without names, those are shown that are paused or " +
      `have jobs among the ${sampleSize} newest or the ${sampleSize} oldest unfinished ones. PARKED are waiting-children.`
  ),
  Command.withShortDescription("List queues, whether they are paused, and their counts"),
  Command.withExamples([{ command: "jobwire queues list mail reports", description: "Two queues by name" }])
)

interface Switching {
  readonly name: string
  readonly done: string
  readonly description: string
  readonly short: string
  readonly run: (store: JobStore.Service, queue: QueueName) => ReturnType<JobStore.Service["pause"]>
}

const switching = (action: Switching) =>
  Command.make(
    action.name,
    {
      names: Argument.String("queue").pipe(
        Argument.withDescription("The names of the queues"),
        Argument.variadic({ min: 1 })
      ),
      json: jsonFlag,
      ...connectionFlags
    },
    Effect.fn(`queues.${action.name}`)(function* ({ json, names }) {
      const store = yield* JobStore.JobStore
      for (const queue of names) {
        yield* action.run(store, queue)
        yield* Console.log(
          json ? JSON.stringify({ queue, paused: action.name === "pause" }) : `${oneLine(queue)}: ${action.done}`
        )
      }
    })
  ).pipe(
    provideStore,
    Command.withDescription(action.description),
    Command.withShortDescription(action.short),
    Command.withExamples([{ command: `jobwire queues ${action.name} mail` }])
  )

const pause = switching({
  name: "pause",
  done: "paused",
  description:
    "Hands out no more jobs of these queues until they are resumed. What runs goes on; new jobs are still taken in.",
  short: "Hand out no more jobs",
  run: (store, queue) => store.pause(queue)
})

const resume = switching({
  name: "resume",
  done: "runs",
  description: "Ends the pause of these queues.",
  short: "End a pause",
  run: (store, queue) => store.resume(queue)
})

/** The command and its subcommands. */
export const queues = Command.make("queues").pipe(
  Command.withDescription("See which queues there are, and pause or resume them."),
  Command.withShortDescription("List, pause or resume queues"),
  Command.withSubcommands([list, pause, resume])
)
