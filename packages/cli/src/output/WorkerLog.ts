/** The events of a worker: lines on stderr for people, lines of JSON on stdout for programs. */
import { formatDuration } from "../flags/Duration.ts"
import type { ReportEvent, WorkerEvent } from "../exec/WorkerEvents.ts"
import { oneLine, plural } from "./Text.ts"

const ended = (event: Extract<WorkerEvent, { _tag: "Ended" }>): string => {
  const { job, outcome, reason, retryInMs, tookMs } = event
  const run = `run ${job.attemptsMade + 1} of ${job.attemptsMax}`
  const why = reason === undefined ? "" : `: ${reason}`
  const next = retryInMs === undefined ? "" : `, again ${retryInMs > 0 ? `in ${formatDuration(retryInMs)}` : "now"}`
  return `${outcome} ${job.name} ${job.id} (${run}, ${formatDuration(tookMs)})${why}${next}`
}

/** The event as a line; `undefined` for one that people need not see. */
export const describe = (event: WorkerEvent): string | undefined => {
  switch (event._tag) {
    case "Ready":
      return `taking ${event.names.join(", ")} from queue ${event.queue}`
    case "Started":
      return undefined
    case "Ended":
      return ended(event)
    case "Recovered":
      return event.failed
        ? `job ${event.id} stalled too often and failed`
        : `job ${event.id} of a worker that is gone is waiting again`
    case "Paused":
      return `queue ${event.queue} is paused: its jobs wait until \`jobwire queues resume ${event.queue}\``
    case "Unreachable":
      return `${event.message}; trying again`
    case "Reachable":
      return "the server answers again"
    case "Draining":
      return `stopping: ${plural(event.running, "program")} to end; a second signal ends at once`
  }
}

const toJson = (event: WorkerEvent): unknown => {
  const { _tag, ...rest } = event
  const name = _tag.toLowerCase()
  if (!("job" in rest)) return { event: name, ...rest }
  const { job, ...how } = rest
  return { event: name, id: job.id, name: job.name, attempt: job.attemptsMade + 1, ...how }
}

/** Writes events as they come. */
export const writeEvents =
  (json: boolean): ReportEvent =>
  (event) => {
    if (json) {
      process.stdout.write(`${JSON.stringify(toJson(event))}\n`)
      return
    }
    const line = describe(event)
    if (line !== undefined) process.stderr.write(`${oneLine(line)}\n`)
  }
