/** The measure that most workloads share: how fast one worker process works off what is there. */
import type { Session } from "../contenders/Session.ts"
import type { Place } from "../contenders/Store.ts"
import type { Count } from "../participants/Messages.ts"
import type { Scale } from "./Scale.ts"

/** Puts so many jobs in by the bulk call, in turn to the places. */
export const put = ({ producer }: Session, places: ReadonlyArray<Place>, count: number, scale: Scale): Promise<Count> =>
  producer.call("bulk", { places, count, seconds: scale.drainSeconds }, scale.drainSeconds)

/**
 * Works off so many of them, and checks that as many jobs as were handled are no longer unfinished: an ack that was not made
 * spoils the measure.
 */
export const workOff = async (
  { producer, worker }: Session,
  places: ReadonlyArray<Place>,
  count: number,
  scale: Scale
): Promise<Count> => {
  const before = await producer.call("unfinished", null)
  const done = await worker.call("drain", { places, count, seconds: scale.drainSeconds }, scale.drainSeconds)
  const left = await producer.call("unfinished", null)
  if (left !== before - done.count) {
    throw new Error(`of ${before} jobs ${done.count} were handled, and ${left} are unfinished`)
  }
  return done
}

/** Both, and what it came to in jobs a second. */
export const drainRate = async (session: Session, places: ReadonlyArray<Place>, scale: Scale): Promise<number> => {
  const { count } = await put(session, places, scale.drain, scale)
  const done = await workOff(session, places, count, scale)
  return done.count / done.seconds
}

/** The first drains, while everything is compiled and every cache is cold; the queue is empty afterwards, or the time is over. */
export const warmUp = async (session: Session, places: ReadonlyArray<Place>, scale: Scale): Promise<void> => {
  const { count } = await put(session, places, scale.drain, { ...scale, drainSeconds: scale.warmUpSeconds })
  await workOff(session, places, count, { ...scale, drainSeconds: scale.warmUpSeconds })
}
