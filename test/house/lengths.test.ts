/** Functions fit a screen. The linter counts their lines; this holds that it is told to, and that it has nothing to say. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { read, root } from "./sources.ts"

const oxlint = join(root, "node_modules", "oxlint", "bin", "oxlint")

const lint = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [oxlint, ...args], { cwd: root, encoding: "utf8" })

describe("functions", () => {
  it("of the sources have at most 60 lines by the linter's rules", () => {
    const { overrides, rules } = JSON.parse(read(".oxlintrc.json"))
    expect(rules["max-lines-per-function"]).toEqual(["error", { max: 60, skipBlankLines: true, skipComments: true }])
    const exempt = overrides.flatMap((override: { files: ReadonlyArray<string> }) => override.files)
    expect(exempt).toEqual(["test/**", "packages/*/test/**", "packages/protocol/src/testing/**"])
  })

  it("keep to it, and so does all else that the linter looks at", () => {
    const { status, stdout } = lint("--deny-warnings")
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining("0 errors") })
  })
})
