/** What Linux tells about a process. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"

/** The resident memory of a process in bytes. */
export const residentBytes = (pid: number): number => {
  const [, kibibytes = "0"] = readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmRSS:\s+(\d+) kB/m) ?? []
  return Number(kibibytes) * 1024
}

/** How many sockets a process holds open. */
export const openSockets = (pid: number): number => {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).filter((fd) => {
    try {
      return readlinkSync(join(folder, fd)).startsWith("socket:")
    } catch {
      // The descriptor was closed between the two calls.
      return false
    }
  }).length
}

/** For how many milliseconds a process has been on a processor, or `undefined` when it is gone. */
export const workedMs = (pid: number): number | undefined => {
  try {
    // Behind the name, which may hold anything, fields 12 and 13 are ticks of a hundredth of a second.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? []
    return 10 * (Number(fields[11]) + Number(fields[12]))
  } catch {
    return undefined
  }
}
