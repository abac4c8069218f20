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
