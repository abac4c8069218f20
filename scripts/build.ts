/** Compiles the packages into their `dist` folders, each before those that need it. */
import { spawnSync } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { packages, root } from "./packages.ts"

for (const name of packages) {
  const folder = join(root, "packages", name)
  rmSync(join(folder, "dist"), { recursive: true, force: true })
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc")
  const { status } = spawnSync(process.execPath, [tsc, "-p", folder], { stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}
