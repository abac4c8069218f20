/** Every workload, in the order of the tables. */
import { drain } from "./drain.ts"
import { enqueue } from "./enqueue.ts"
import { finished, waiting } from "./grown.ts"
import { names } from "./names.ts"
import { queues } from "./queues.ts"
import { steady } from "./steady.ts"
import { transaction } from "./transaction.ts"
import { wake } from "./wake.ts"
import type { Workload } from "./Workload.ts"

/** The first four are measured in every round. */
export const workloads: ReadonlyArray<Workload> = [
  enqueue,
  drain,
  steady,
  wake,
  waiting,
  finished,
  transaction,
  queues,
  names
]
