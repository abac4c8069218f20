/** The example application runs, and the page about it shows its code. */
import { expect, it } from "vitest"
import { execFile } from "node:child_process"
import { readdirSync } from "node:fs"
import { promisify } from "node:util"
import { read, root } from "../house/sources.ts"

it("the application sends its mails through a server of its own", async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=jobwire:source", "examples/effect-mq/main.ts"],
    { cwd: root, env: { ...process.env, JOBWIRE_URL: undefined } }
  )
  expect(stdout).toContain("newsletter: 2 sent, 1 failed")
})

it("every line of code in docs/effect-mq.md is in the example", () => {
  const folder = "examples/effect-mq"
  const example = new Set(
    readdirSync(`${root}/${folder}`).flatMap((file) =>
      read(`${folder}/${file}`)
        .split("\n")
        .map((line) => line.trim())
    )
  )
  const blocks = Array.from(read("docs/effect-mq.md").matchAll(/```ts\n(.*?)```/gs), ([, block = ""]) => block)
  const lines = blocks.flatMap((block) => block.split("\n").map((line) => line.trim()))
  expect(lines.length).toBeGreaterThan(20)
  expect(lines.filter((line) => !example.has(line))).toEqual([])
})
