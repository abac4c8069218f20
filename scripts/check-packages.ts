/**
 * Packs the published packages, lints the tarballs, installs them in an empty project and imports every entry there, as a
 * user's program and as a user's types. Expects `dist` to be built.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { packages, root } from "./packages.ts"

interface Manifest {
  readonly name: string
  readonly exports: Record<string, unknown>
  readonly bin?: Record<string, string>
  readonly devDependencies?: Record<string, string>
}

// The shape is that of our own package.json files.
const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest

const run = (command: string, args: ReadonlyArray<string>, cwd: string): string => {
  const { status, stderr, stdout } = spawnSync(command, args, { cwd, encoding: "utf8" })
  if (status === 0) return stdout
  console.error(`${command} ${args.join(" ")} ended with ${status}\n${stdout}\n${stderr}`)
  return process.exit(1)
}

const lint = async (folder: string, name: string) => {
  const { messages } = await publint({ pkgDir: folder, strict: true })
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  for (const message of messages) console.error(`${name}: ${formatMessage(message, manifest)}`)
  if (messages.length > 0) process.exit(1)
}

const versions = manifestOf(root).devDependencies ?? {}
const peers = ["effect", "@effect/platform-node", "@effect/vitest", "vitest", "effect-mq", "typescript", "@types/node"]

const project = mkdtempSync(join(tmpdir(), "jobwire-packed-"))
try {
  const entries: Array<string> = []
  const tarballs: Array<string> = []
  for (const name of packages) {
    const folder = join(root, "packages", name)
    const manifest = manifestOf(folder)
    await lint(folder, manifest.name)
    const packed = run("npm", ["pack", "--silent", "--pack-destination", project], folder)
    tarballs.push(join(project, packed.trim()))
    for (const entry of Object.keys(manifest.exports)) {
      if (entry !== "./package.json") entries.push(join(manifest.name, entry))
    }
  }
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }))
  const wanted = peers.map((peer) => `${peer}@${versions[peer]}`)
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", ...tarballs, ...wanted], project)
  // The suite registers tests, so its entry is imported by types only.
  const runnable = entries.filter((entry) => !entry.endsWith("/testing"))
  writeFileSync(join(project, "run.js"), runnable.map((entry) => `await import(${JSON.stringify(entry)})\n`).join(""))
  run(process.execPath, ["run.js"], project)
  writeFileSync(
    join(project, "types.ts"),
    entries.map((entry, index) => `export * as entry${index} from ${JSON.stringify(entry)}\n`).join("")
  )
  const flags = [
    "--noEmit",
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2024",
    "--skipLibCheck",
    "--types",
    "node"
  ]
  run(process.execPath, ["node_modules/typescript/bin/tsc", ...flags, "types.ts"], project)
  const commands = [
    { bin: "jobwire/bin/jobwire.js", says: "serve" },
    { bin: "@jobwire/faults/bin/jobwire-faults.js", says: "--upstream" }
  ]
  for (const { bin, says } of commands) {
    const help = run(process.execPath, [join("node_modules", bin), "--help"], project)
    if (help.includes(says)) continue
    console.error(`--help of the packed ${bin} does not name ${says}:\n${help}`)
    process.exit(1)
  }
  console.log(`packed, installed and imported: ${entries.join(", ")}, jobwire, jobwire-faults`)
} finally {
  rmSync(project, { recursive: true, force: true })
}
