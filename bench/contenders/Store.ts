/** What is measured, seen from inside a process: one small interface that every contender's adapter implements. */

/** What a job carries: about 500 bytes of JSON. */
export interface Payload {
  readonly to: string
  readonly template: string
  readonly text: string
  /** When the enqueue call began, by the monotonic clock that all processes of a machine share; only where wake-ups are measured. */
  readonly sentAt?: number
}

/** Where a job goes, and where a worker takes from. A contender without names within queues looks at the queue alone. */
export interface Place {
  readonly queue: string
  readonly name: string
}

/** One job to be put in. */
export interface Job extends Place {
  readonly payload: Payload
}

/** A worker at work. */
export interface Working {
  /** Takes no more, and resolves when every job that was handled is acknowledged. */
  readonly stop: () => Promise<void>
}

/** A connection to a contender's store. */
export interface Store {
  /** Puts one job in; resolves when the store has acknowledged it. */
  readonly enqueue: (job: Job) => Promise<unknown>
  /** Puts many in by the contender's own bulk call. */
  readonly enqueueMany: (jobs: ReadonlyArray<Job>) => Promise<unknown>
  /** Works at the contender's best concurrency: `handle` runs for each job, and each is acknowledged. */
  readonly work: (places: ReadonlyArray<Place>, handle: (payload: Payload) => void) => Promise<Working>
  /** How many jobs are not finished: what says whether every job was acknowledged. */
  readonly unfinished: () => Promise<number>
  /** Puts in finished jobs by the quickest way there is, where there is one that is quicker than to work them off. */
  readonly fillFinished?: (place: Place, count: number) => Promise<unknown>
  /** The same for waiting jobs, where there is a quicker way than {@link enqueueMany}. */
  readonly fillWaiting?: (place: Place, count: number) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** What an adapter is told: where the store is, and the settings that tell contenders of one kind apart. */
export interface Target {
  readonly url: string
  readonly options: Readonly<Record<string, string | number | boolean>>
}

/** What the module of an adapter exports. */
export interface Adapter {
  /** How many jobs one {@link Store.enqueueMany} takes at its best, and how many of these calls are under way at once. */
  readonly bulk: { readonly size: number; readonly callers: number }
  /** Makes what must be there before the first job: tables, queues. Called once for a fresh store. */
  readonly prepare: (target: Target, places: ReadonlyArray<Place>) => Promise<unknown>
  readonly connect: (target: Target) => Promise<Store>
}
