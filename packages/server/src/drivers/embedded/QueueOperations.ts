/** Pausing queues. */
import type { JobStore } from "@jobwire/protocol"
import type { Engine } from "./Engine.ts"

export const pause =
  (engine: Engine): JobStore.Service["pause"] =>
  (queue) =>
    engine.write(({ tables }) => {
      tables.pauses.add(queue)
    })

export const resume =
  (engine: Engine): JobStore.Service["resume"] =>
  (queue) =>
    engine.write(({ tables, wakes }) => {
      if (tables.pauses.delete(queue)) wakes.queue(queue)
    })

export const pausedQueues =
  (engine: Engine): JobStore.Service["pausedQueues"] =>
  () =>
    engine.read((tables) => tables.pauses.list())
