/** `npm run bench`: installs the bench's own dependencies when they are missing or old, and runs it. */
import { spawnSync } from "node:child_process"
import { statSync } from "node:fs"
import { fileURLToPath } from "node:url"

const here = fileURLToPath(new URL(".", import.meta.url))

const changedAt = (path: string): number =>
  statSync(new URL(path, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0

/** npm writes the inner file when it has installed what the outer says. */
const isInstalled = (): boolean => changedAt("node_modules/.package-lock.json") >= changedAt("package-lock.json")

const install = (): void => {
  console.log("installing what the bench is compared with, which is no part of the product")
  // The npm that runs this script, if one does.
  const npm = process.env["npm_execpath"]
  const [command, args] = npm === undefined ? ["npm", ["ci"]] : [process.execPath, [npm, "ci"]]
  const { status } = spawnSync(command, args, { cwd: here, stdio: "inherit" })
  if (status !== 0) throw new Error(`npm ci in ${here} ended with ${status}`)
}

if (!isInstalled()) install()
const { main } = await import("./main.ts")
const { UsageError } = await import("./Options.ts")
try {
  await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(error.message)
  process.exitCode = 2
}
