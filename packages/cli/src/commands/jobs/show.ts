/** `jobwire jobs show`: one job with all its runs. */
import { JobNotFoundError, type JobRecord, JobStore } from "@jobwire/protocol"
import { Clock, Console, Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { provideStore } from "../../Connect.ts"
import { connectionFlags } from "../../flags/Connection.ts"
import { jsonFlag } from "../../flags/Switch.ts"
import { jobDetails, whyItWaits } from "../../output/Job.ts"
import { TerminalWidth } from "../../output/Table.ts"

const isPaused = Effect.fnUntraced(function* (job: JobRecord) {
  if (job.state !== "waiting" && job.state !== "delayed") return false
  const store = yield* JobStore.JobStore
  return (yield* store.pausedQueues()).includes(job.queue)
})

/** The command. */
export const show = Command.make(
  "show",
  {
    id: Argument.String("id").pipe(Argument.withDescription("The id of the job")),
    json: jsonFlag,
    ...connectionFlags
  },
  Effect.fn("jobs.show")(function* ({ id, json }) {
    const store = yield* JobStore.JobStore
    const found = yield* store.getJob(id)
    if (Option.isNone(found)) return yield* new JobNotFoundError({ jobId: id })
    const job = found.value
    const runs = yield* store.getAttempts(id)
    const now = yield* Clock.currentTimeMillis
    const why = whyItWaits(job, yield* isPaused(job), now)
    yield* Console.log(
      json ? JSON.stringify({ job, runs, why: why ?? null }) : jobDetails(job, runs, why, now, yield* TerminalWidth)
    )
  })
).pipe(
  provideStore,
  Command.withDescription("Shows a job: its record, why it waits if it does, how it ended, and every run it had."),
  Command.withShortDescription("Show a job and its runs"),
  Command.withExamples([{ command: "jobwire jobs show 0198c1e2", description: "Everything about one job" }])
)
