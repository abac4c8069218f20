/** What is waited for: jobs of a name in a queue of a store; without a name, any job of the queue. */

export interface LaneKey {
  readonly store: number
  readonly queue: string
  readonly name: string | undefined
}

/** The key as text, for maps. */
export const textOf = ({ name, queue, store }: LaneKey): string => `${store}/${queue.length}/${queue}/${name ?? ""}`
