/** What the figures were measured on. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { cpus, release, tmpdir, totalmem, type } from "node:os"
import { join } from "node:path"
import { median } from "./Results.ts"

const syncs = 200

/** What it takes to write 4 KiB and sync them, in microseconds, where temporary files are. */
const syncMicros = (): number => {
  const folder = mkdtempSync(join(tmpdir(), "jobwire-bench-"))
  const file = openSync(join(folder, "file"), "w")
  const block = Buffer.alloc(4096, 1)
  const times = Array.from({ length: syncs }, () => {
    const start = performance.now()
    writeSync(file, block)
    fdatasyncSync(file)
    return (performance.now() - start) * 1000
  })
  closeSync(file)
  rmSync(folder, { recursive: true })
  return median(times)
}

/** In one line. */
export const describeMachine = (): string => {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return [
    `${cpus().length} cores (${cpu?.model.trim()})`,
    `${memory} GiB`,
    `a write of 4 KiB and its fdatasync ${Math.round(syncMicros())} µs`,
    `${type()} ${release()}`,
    `Node ${process.versions.node}`
  ].join(", ")
}
