/** Calls that break the contract, as far as histories make them. `protocol/testing` has all there are. */
import type { AckOutcome, EnqueueRequest, ScheduleRecord } from "@jobwire/protocol"
import type { Call } from "./answers.ts"

/** The name of a bad argument, or nothing. */
type Problem = string | undefined

const isJson = (value: unknown): boolean =>
  typeof value === "number"
    ? Number.isFinite(value)
    : typeof value !== "object" || value === null || Object.values(value).every(isJson)

const requestProblem = (at: string, request: EnqueueRequest): Problem => {
  if (request.id === "") return `${at}.id`
  if (request.name === "") return `${at}.name`
  if (request.queue === "") return `${at}.queue`
  if (!isJson(request.payload)) return `${at}.payload`
  return request.dedupe?.key === "" ? `${at}.dedupe.key` : undefined
}

const withIdProblem = (at: string, request: EnqueueRequest): Problem =>
  request.id === undefined ? `${at}.id` : requestProblem(at, request)

const outcomeProblem = (outcome: AckOutcome): Problem => {
  if (outcome._tag !== "FanOut") return "exit" in outcome && !isJson(outcome.exit) ? "outcome.exit" : undefined
  const keys = outcome.children.map(({ childKey }) => childKey)
  const repeated = keys.findIndex((key, index) => keys.indexOf(key) < index)
  if (repeated >= 0) return `outcome.children[${repeated}].childKey`
  return outcome.children
    .map(({ request }, index) => withIdProblem(`outcome.children[${index}].request`, request))
    .find((problem) => problem !== undefined)
}

const scheduleProblem = ({ cron, everyMs, key }: ScheduleRecord): Problem => {
  if (key === "") return "schedule.key"
  return (cron === undefined) === (everyMs === undefined) ? "schedule" : undefined
}

const limitProblem = (limit: number | undefined): Problem =>
  limit === undefined || (Number.isInteger(limit) && limit > 0) ? undefined : "options.limit"

/** The argument for which a call is refused. */
export const problemOf = (call: Call): Problem => {
  switch (call.name) {
    case "enqueue":
      return requestProblem("request", call.args[0])
    case "enqueueMany":
      return call.args[0]
        .map((request, index) => requestProblem(`requests[${index}]`, request))
        .find((problem) => problem !== undefined)
    case "claim":
      return call.args[0].token === "" ? "options.token" : undefined
    case "claimMany": {
      const { tokens } = call.args[0]
      const repeated = tokens.findIndex((token, index) => tokens.indexOf(token) < index)
      return tokens.length === 0 ? "options.tokens" : repeated < 0 ? undefined : `options.tokens[${repeated}]`
    }
    case "ack":
      return outcomeProblem(call.args[2])
    case "recoverStalled":
      return call.args[0].maxStalledCount < 0 ? "options.maxStalledCount" : undefined
    case "upsertSchedule":
      return scheduleProblem(call.args[0])
    case "tickSchedule":
      return withIdProblem("request", call.args[3])
    case "list":
    case "peekOutbox":
    case "flowSweepWork":
      return limitProblem(call.args[0].limit)
    case "listChildResults":
      return limitProblem(call.args[1]?.limit)
    default:
      return undefined
  }
}
