/** How many commits a second the bench's PostgreSQL takes: `pgbench -N`, an update of one row and an insert in each transaction. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { findProgram } from "../services/daemon.ts"
import type { Postgres } from "../services/postgres.ts"

const execute = promisify(execFile)

/** The clients that are tried; the best count is the limit. */
export const clientCounts = [8, 16, 32]

/** None when pgbench is not installed. */
export const pgbenchRate = async (postgres: Postgres, seconds: number): Promise<number | undefined> => {
  const program = findProgram("pgbench")
  if (program === undefined) return undefined
  const { drop, url } = await postgres.fresh()
  try {
    await execute(program, ["-i", "-q", "-s", "10", url])
    const rates: Array<number> = []
    for (const clients of clientCounts) {
      const args = ["-n", "-N", "-c", `${clients}`, "-j", "2", "-T", `${Math.max(1, Math.round(seconds))}`, url]
      const { stdout } = await execute(program, args)
      rates.push(Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]))
    }
    return Math.max(...rates)
  } finally {
    await drop()
  }
}
