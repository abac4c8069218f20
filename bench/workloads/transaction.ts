/**
 * Drain while somebody else's `repeatable read` transaction stays open: dead rows cannot be cleaned away, and a queue that walks over
 * them gets slower by the second. Jobs are put in and worked off in turns; only the working off is counted.
 */
import type { Count } from "../participants/Messages.ts"
import { connectSql } from "../services/Sql.ts"
import { drainRate, put, warmUp, workOff } from "./drained.ts"
import { type Figure, place, type Workload } from "./Workload.ts"

// The age of the transaction is told in so many steps.
const steps = 6

const rateOf = (counts: ReadonlyArray<Count>): number => {
  const sum = (of: (count: Count) => number) => counts.reduce((total, count) => total + of(count), 0)
  return sum(({ count }) => count) / sum(({ seconds }) => seconds)
}

/** `transaction@0` before it begins; `transaction@10` the first ten seconds of its life, and so on to its end. */
export const transaction: Workload = {
  name: "transaction",
  needs: "waiting",
  long: true,
  run: async (session, scale) => {
    const { database } = session.ground
    if (database === undefined) throw new Error("an old transaction needs a database")
    await warmUp(session, [place], scale)
    const before = { name: "transaction@0", value: await drainRate(session, [place], scale) }
    const step = scale.transactionSeconds / steps
    const counts = new Map<number, Array<Count>>()
    const old = await connectSql(database)
    try {
      await old.run("begin isolation level repeatable read")
      await old.run("select 1 from pg_class limit 1")
      const start = performance.now()
      const age = () => (performance.now() - start) / 1000
      while (age() < scale.transactionSeconds) {
        // A drain that would last longer ends with the step.
        const drainSeconds = Math.min(scale.drainSeconds, step)
        const { count } = await put(session, [place], scale.drain, scale)
        const done = await workOff(session, [place], count, { ...scale, drainSeconds })
        const at = Math.min(steps, Math.ceil(age() / step)) * step
        counts.set(at, [...(counts.get(at) ?? []), done])
      }
    } finally {
      await old.close()
    }
    const later: ReadonlyArray<Figure> = [...counts].map(([at, of]) => ({
      name: `transaction@${at}`,
      value: rateOf(of)
    }))
    return [before, ...later]
  }
}
