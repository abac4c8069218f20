/** effect-mq's tables under their default names. */
import {
  mqDedupe,
  mqFlowChildren,
  mqFlowOutbox,
  mqJobAttempts,
  mqJobs,
  mqQueueControl,
  mqSchedules
} from "effect-mq/drizzle-postgres"

const jobs = mqJobs()

/** As its store wants them. */
export const tables = {
  jobs,
  attempts: mqJobAttempts(jobs),
  schedules: mqSchedules(),
  queues: mqQueueControl(),
  dedupe: mqDedupe(),
  flowChildren: mqFlowChildren(),
  flowOutbox: mqFlowOutbox()
}
