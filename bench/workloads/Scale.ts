/** How much of everything. */

/** Counts are jobs unless said. */
export interface Scale {
  readonly warmUpSeconds: number
  readonly enqueueSeconds: number
  readonly bulk: number
  readonly drain: number
  /** What a drain may take at most; the rate is that of the jobs it finished. */
  readonly drainSeconds: number
  readonly steadySeconds: number
  /** How far the producer may be ahead of the worker. */
  readonly ahead: number
  readonly wakes: number
  readonly wakeSeconds: number
  /** What is there already when the drain is measured. */
  readonly grown: ReadonlyArray<number>
  readonly transactionSeconds: number
  readonly queues: number
  readonly others: number
  readonly rare: number
}

/** What the results are made of. */
export const full: Scale = {
  warmUpSeconds: 1.5,
  enqueueSeconds: 1,
  bulk: 20_000,
  drain: 20_000,
  drainSeconds: 8,
  steadySeconds: 3,
  ahead: 2000,
  wakes: 60,
  wakeSeconds: 4,
  grown: [100_000, 1_000_000],
  transactionSeconds: 60,
  queues: 2000,
  others: 300_000,
  rare: 2000
}

/** For trying whether everything works: its figures say nothing. */
export const quick: Scale = {
  warmUpSeconds: 0.3,
  enqueueSeconds: 0.3,
  bulk: 2000,
  drain: 1000,
  drainSeconds: 3,
  steadySeconds: 0.7,
  ahead: 1000,
  wakes: 5,
  wakeSeconds: 3,
  grown: [5000],
  transactionSeconds: 6,
  queues: 50,
  others: 5000,
  rare: 200
}
