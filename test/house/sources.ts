/** The sources of the repository, read as text: for the tests that hold the rules of the house. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"

/** The folder of the repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url))

/** The files that git tracks or would track, by path from the root, in order. */
export const trackedFiles = (): ReadonlyArray<string> =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((path) => path !== "")
    .toSorted()

/** The text of a file of the repository. */
export const read = (path: string): string => readFileSync(join(root, path), "utf8")

/** One import: the file that has it, what it names, and whether it is of types only. */
export interface Import {
  readonly from: string
  /** A path from the root for a relative import, else the specifier as it stands. */
  readonly to: string
  readonly typesOnly: boolean
}

const statement = /^(?:import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm
const dynamic = /\bimport\("([^"]+)"\)/g

/** Every static and dynamic import of a TypeScript file. */
export const importsOf = (path: string): ReadonlyArray<Import> => {
  const text = read(path)
  const resolve = (specifier: string): string =>
    specifier.startsWith(".") ? normalize(join(dirname(path), specifier)) : specifier
  const found: Array<Import> = []
  for (const [, types, specifier = ""] of text.matchAll(statement)) {
    found.push({ from: path, to: resolve(specifier), typesOnly: types !== undefined })
  }
  for (const [, specifier = ""] of text.matchAll(dynamic)) {
    found.push({ from: path, to: resolve(specifier), typesOnly: false })
  }
  return found
}
