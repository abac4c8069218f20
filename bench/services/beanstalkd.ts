/** A beanstalkd with its binlog, synced as its default has it: at most every 50 ms. */
import { execFileSync } from "node:child_process"
import { findProgram, type Service, startDaemon } from "./daemon.ts"

/** Starts one; none when beanstalkd is not installed. */
export const startBeanstalkd = async (): Promise<Service | undefined> => {
  const program = findProgram("beanstalkd")
  if (program === undefined) return undefined
  const { port, stop } = await startDaemon(program, (folder, port) => [
    "-l",
    "127.0.0.1",
    "-p",
    `${port}`,
    "-b",
    folder
  ])
  const version = execFileSync(program, ["-v"], { encoding: "utf8" }).trim()
  return { url: `127.0.0.1:${port}`, version: `${version}, binlog synced every 50 ms`, stop }
}
