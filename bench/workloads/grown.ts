/** Drain of 20,000 in a store that has grown: with many jobs waiting behind them, or many finished. */
import type { Session } from "../contenders/Session.ts"
import { connectSql } from "../services/Sql.ts"
import { drainRate, put, warmUp, workOff } from "./drained.ts"
import type { Scale } from "./Scale.ts"
import { type Figure, place, type Workload } from "./Workload.ts"

// How long filling a store may take, in seconds.
const fillSeconds = 360

/** Gives the database what autovacuum would have given it by and by, and writes out what the filling left to write. */
const settle = async ({ ground }: Session): Promise<void> => {
  if (ground.database === undefined) return
  const sql = await connectSql(ground.database)
  try {
    await sql.run("vacuum analyze")
    await sql.run("checkpoint")
  } finally {
    await sql.close()
  }
}

const drainOfWaiting = async (session: Session, scale: Scale): Promise<number> => {
  const { count, seconds } = await workOff(session, [place], scale.drain, scale)
  return count / seconds
}

/** With so many jobs waiting: the first of them are worked off. */
export const waiting: Workload = {
  name: "waiting",
  needs: "waiting",
  long: true,
  run: async (session, scale) => {
    await warmUp(session, [place], scale)
    await settle(session)
    const figures: Array<Figure> = [{ name: "waiting@0", value: await drainRate(session, [place], scale) }]
    for (const size of scale.grown) {
      const count = size - (await session.producer.call("unfinished", null))
      await session.producer.call("fillWaiting", { place, count }, fillSeconds)
      await settle(session)
      figures.push({ name: `waiting@${size}`, value: await drainOfWaiting(session, scale) })
    }
    return figures
  }
}

/** With so many jobs finished: 20,000 more are put in and worked off. */
export const finished: Workload = {
  name: "finished",
  needs: "finished",
  long: true,
  run: async (session, scale) => {
    await warmUp(session, [place], scale)
    await settle(session)
    const figures: Array<Figure> = [{ name: "finished@0", value: await drainRate(session, [place], scale) }]
    let there = 0
    for (const size of scale.grown) {
      // The quick ways copy a job that is there.
      await put(session, [place], 1, scale)
      await session.worker.call("fillFinished", { place, count: size - there }, fillSeconds)
      there = size
      await settle(session)
      figures.push({ name: `finished@${size}`, value: await drainRate(session, [place], scale) })
    }
    return figures
  }
}
