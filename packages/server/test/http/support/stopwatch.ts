/**
 * Time as it would pass on a machine of one's own: the time the process worked, and the time it waited for something. What a
 * busy machine gave to other processes does not count.
 */
import { performance } from "node:perf_hooks"

/** Starts measuring. The result tells the milliseconds since then. */
export const start = (): (() => { readonly own: number; readonly wall: number }) => {
  const wall = performance.now()
  const loop = performance.eventLoopUtilization()
  const cpu = process.cpuUsage()
  return () => {
    const { system, user } = process.cpuUsage(cpu)
    const waited = performance.eventLoopUtilization(loop).idle
    const passed = performance.now() - wall
    return { wall: passed, own: Math.min(passed, waited + (system + user) / 1000) }
  }
}
