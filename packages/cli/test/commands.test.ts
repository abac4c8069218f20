/** The commands that look at jobs and act on them, in one process. */
import { EnqueueRequest, JobStoreError } from "@jobwire/protocol"
import { Effect, Option } from "effect"
import { describe, expect, it } from "vitest"
import { jobwire, withCommands } from "./support/inProcess.ts"

const request = (fields: Partial<typeof EnqueueRequest.Type> = {}) =>
  EnqueueRequest.make({ name: "mail", queue: "default", ...fields })

const json = (text: string): unknown => JSON.parse(text)

describe("counts", () => {
  it("prints a line a state, or an object", () =>
    withCommands((command, store) =>
      Effect.gen(function* () {
        yield* store.enqueueMany([request(), request({ queue: "other" }), request({ delayMs: 60_000 })])
        expect((yield* command("counts")).stdout).toMatch(/^STATE +JOBS\nwaiting +2\ndelayed +1\n/)
        const one = yield* command("counts", "--queue", "other", "--json")
        expect(json(one.stdout)).toMatchObject({ waiting: 1, delayed: 0, "waiting-children": 0 })
        expect(one.code).toBe(0)
      })
    ))
})

describe("enqueue", () => {
  it("puts in a job by its flags, and prints its id", () =>
    withCommands((command, store) =>
      Effect.gen(function* () {
        const flags = "--queue q --delay 5m --priority -3 --attempts 4 --backoff exponential:1s --timeout 10s".split(
          " "
        )
        const more = "--metadata a=1 --metadata b=x=y --keep-failed 10,1d --dedupe k --dedupe-ttl 1h".split(" ")
        const { code, stderr, stdout } = yield* command("enqueue", "mail", "--payload", "[1]", ...flags, ...more)
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
        expect(Option.getOrThrow(yield* store.getJob(stdout))).toMatchObject({
          name: "mail",
          queue: "q",
          state: "delayed",
          payload: [1],
          priority: -3,
          attemptsMax: 4,
          backoff: { _tag: "exponential", delayMs: 1000 },
          timeoutMs: 10_000,
          metadata: { a: "1", b: "x=y" },
          keep: { failed: { count: 10, ageMs: 86_400_000 } },
          dedupeKey: "k"
        })
      })
    ))

  it("tells a duplicate from a new job", () =>
    withCommands((command) =>
      Effect.gen(function* () {
        yield* command("enqueue", "mail", "--id", "a", "--dedupe", "k")
        const same = yield* command("enqueue", "mail", "--id", "a")
        expect(same).toEqual({ code: 0, stdout: "a", stderr: "nothing new: this job is there already" })
        const keyed = yield* command("enqueue", "mail", "--dedupe", "k", "--json")
        expect(json(keyed.stdout)).toEqual({ id: "a", duplicate: true })
        expect(json((yield* command("enqueue", "mail", "--json")).stdout)).toMatchObject({ duplicate: false })
      })
    ))

  it("sends a job again whose answer was lost, and makes no second one", () =>
    withCommands((_, store) =>
      Effect.gen(function* () {
        let calls = 0
        const lost = new JobStoreError({ message: "gone", reason: { _tag: "Unavailable", url: "x", sent: true } })
        const command = jobwire({
          ...store,
          enqueue: (request) =>
            Effect.suspend(() =>
              Effect.tap(store.enqueue(request), () => (++calls === 1 ? Effect.fail(lost) : Effect.void))
            )
        })
        expect(json((yield* command("enqueue", "mail", "--json")).stdout)).toMatchObject({ duplicate: false })
        expect(yield* store.counts()).toMatchObject({ waiting: 1 })
      })
    ))

  it.each([
    [["--payload", "{"], "--payload is not JSON"],
    [["--payload", "1", "--file", "x"], "not both"],
    [["-", "--file", "x"], "not both"],
    [["jobs.jsonl"], 'unexpected argument "jobs.jsonl"'],
    [["--dedupe-ttl", "1h"], "need --dedupe"],
    [["--file", "x", "--dedupe", "k"], "--lines request"],
    [["--metadata", "novalue"], "key=value"],
    [["--attempts", "0"], "from 1 to"]
  ])("refuses %j", (args, problem) =>
    withCommands((command) =>
      Effect.gen(function* () {
        const { code, stderr } = yield* command("enqueue", "mail", ...args)
        expect(code).toBe(2)
        expect(stderr).toContain(problem)
      })
    )
  )

  it("says which file cannot be read", () =>
    withCommands((command) =>
      Effect.gen(function* () {
        const { code, stderr } = yield* command("enqueue", "mail", "--file", "not-there.jsonl")
        expect(code).toBe(1)
        expect(stderr).toMatch(/cannot read "not-there\.jsonl": it is not there$/m)
      })
    ))
})

describe("jobs list", () => {
  it("filters, and pages by the cursor that it prints", () =>
    withCommands((command, store) =>
      Effect.gen(function* () {
        const ids = ["a", "b", "c"]
        yield* store.enqueueMany(ids.map((id) => request({ id, metadata: { team: "x" } })))
        yield* store.enqueue(request({ id: "d", name: "other" }))
        const filter = ["jobs", "list", "--name", "mail", "--metadata", "team=x", "--oldest-first", "--limit", "2"]
        const first = yield* command(...filter, "--json")
        const page = json(first.stdout)
        expect(page).toMatchObject({ items: [{ id: "a" }, { id: "b" }], cursor: expect.any(String) })
        const { cursor } = page as { cursor: string }
        const second = yield* command(...filter, "--json", "--cursor", cursor)
        expect(json(second.stdout)).toMatchObject({ items: [{ id: "c" }], cursor: null })
        const all = yield* command(...filter, "--json", "--all")
        expect(all.stdout.split("\n").map((line) => json(line))).toMatchObject([{ id: "a" }, { id: "b" }, { id: "c" }])
      })
    ))

  it("prints a table of lines no wider than the terminal, and says how to go on", () =>
    withCommands((command, store) =>
      Effect.gen(function* () {
        const name = "n".repeat(60)
        yield* store.enqueueMany([request({ name }), request({ name })])
        const { stderr, stdout } = yield* command("jobs", "list", "--limit", "1")
        expect(stdout.split("\n")).toHaveLength(2)
        for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80)
        expect(stdout).toContain("…")
        expect(stderr).toMatch(/^1 job shown, more follow: --all, or --cursor /)
      })
    ))

  it("refuses a cursor that it did not give", () =>
    withCommands((command) =>
      Effect.gen(function* () {
        const { code, stderr } = yield* command("jobs", "list", "--cursor", "nonsense", "--json")
        expect(code).toBe(1)
        expect(json(stderr)).toMatchObject({
          error: { kind: "InvalidArgument", message: expect.stringContaining("cursor") }
        })
      })
    ))
})

describe("jobs show", () => {
  it("shows record, runs and how it ended", () =>
    withCommands((command, store) =>
      Effect.gen(function* () {
        const { id } = yield* store.enqueue(request({ payload: { to: "ann" }, metadata: { k: "v" } }))
        yield* store.claim({ queue: "default", names: ["mail"], token: "t", lockDurationMs: 1000 })
        const defect = {
          name: "ProgramFailed",
          message: "the program exited with code 3: no route",
          stderr: "long\nno route\n"
        }
        yield* store.ack(id, "t", { _tag: "Fail", exit: { _tag: "Failure", cause: [{ _tag: "Die", defect }] } })
        const { code, stdout } = yield* command("jobs", "show", id)
        expect(code).toBe(0)
        expect(stdout).toContain(`id          ${id}`)
        expect(stdout).toContain('"to": "ann"')
        expect(stdout).toContain(
          "ended with\n  the program exited with code 3: no route\n  \n  stderr\n  long\n  no route"
        )
        expect(stdout).toMatch(/1 {2}failed .* the program exited/)
        const asJson = yield* command("jobs", "show", id, "--json")
        expect(json(asJson.stdout)).toMatchObject({
          job: { id, state: "failed" },
          runs: [{ outcome: "failed" }],
          why: null
        })
      })
    ))

  it("says why a job waits", () =>
    withCommands((command, store) =>
      Effect.gen(function* () {
        yield* store.enqueueMany([request({ id: "waits" }), request({ id: "later", delayMs: 3_600_000 })])
        expect((yield* command("jobs", "show", "waits")).stdout).toContain(
          'It waits for a free worker that takes "mail"'
        )
        expect((yield* command("jobs", "show", "later")).stdout).toMatch(/It was delayed: it may run in (59m59s|1h)\./)
        yield* store.pause("default")
        expect((yield* command("jobs", "show", "waits")).stdout).toContain('Queue "default" is paused')
      })
    ))

  it("says that there is no such job", () =>
    withCommands((command) =>
      Effect.gen(function* () {
        const { code, stderr, stdout } = yield* command("jobs", "show", "nope")
        expect({ code, stderr, stdout }).toEqual({ code: 1, stdout: "", stderr: 'jobwire: there is no job "nope"' })
      })
    ))

  it("lets no job steer the terminal", () =>
    withCommands((command, store) =>
      Effect.gen(function* () {
        const evil = "\u001B]0;owned\u0007\u202Eabc"
        yield* store.enqueue(request({ id: `x${evil}`, name: evil, payload: evil, metadata: { [evil]: evil } }))
        const shown = yield* command("jobs", "show", `x${evil}`)
        const listed = yield* command("jobs", "list")
        // oxlint-disable-next-line no-control-regex
        expect(shown.stdout + listed.stdout).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u202E]/)
        expect(shown.stdout).toContain("\\u001b]0;owned")
      })
    ))
})

describe("jobs retry, cancel, promote, remove", () => {
  it("act on each id by itself", () =>
    withCommands((command, store) =>
      Effect.gen(function* () {
        yield* store.enqueueMany([request({ id: "later", delayMs: 60_000 }), request({ id: "now" })])
        const promoted = yield* command("jobs", "promote", "later", "now", "nope")
        expect(promoted).toEqual({
          code: 1,
          stdout: "later: waiting now",
          stderr: 'jobwire: job "now" is waiting: only a delayed job can be promoted\njobwire: there is no job "nope"'
        })
        const cancelled = yield* command("jobs", "cancel", "now", "--json")
        expect(json(cancelled.stdout)).toEqual({ id: "now", done: true, what: "cancelled" })
        const retried = yield* command("jobs", "retry", "now")
        expect(retried.stderr).toBe('jobwire: job "now" is cancelled: only a failed job can be retried')
        expect((yield* command("jobs", "remove", "now")).stdout).toBe("now: removed")
        expect((yield* command("jobs", "remove", "now")).stderr).toBe('jobwire: there is no job "now"')
      })
    ))

  it("take an id that looks like a word for a switch", () =>
    withCommands((command, store) =>
      Effect.gen(function* () {
        yield* store.enqueue(request({ id: "1" }))
        expect(json((yield* command("jobs", "cancel", "--json", "1")).stdout)).toMatchObject({ id: "1", done: true })
      })
    ))

  it("say when an active job is only asked for, and when one cannot be removed", () =>
    withCommands((command, store) =>
      Effect.gen(function* () {
        yield* store.enqueue(request({ id: "runs" }))
        yield* store.claim({ queue: "default", names: ["mail"], token: "t", lockDurationMs: 1000 })
        expect((yield* command("jobs", "cancel", "runs")).stdout).toBe(
          "runs: cancel requested, its worker will stop it"
        )
        const removed = yield* command("jobs", "remove", "runs")
        expect(removed.code).toBe(1)
        expect(removed.stderr).toContain('job "runs" is active')
      })
    ))
})

describe("queues", () => {
  it("are listed with their counts, paused and resumed", () =>
    withCommands((command, store) =>
      Effect.gen(function* () {
        yield* store.enqueueMany([request(), request({ queue: "b" })])
        expect((yield* command("queues", "pause", "b", "empty")).stdout).toBe("b: paused\nempty: paused")
        const listed = yield* command("queues", "list", "--json")
        expect(json(listed.stdout)).toMatchObject({
          queues: [
            { queue: "b", paused: true, counts: { waiting: 1 } },
            { queue: "default", paused: false, counts: { waiting: 1 } },
            { queue: "empty", paused: true, counts: { waiting: 0 } }
          ]
        })
        yield* command("queues", "resume", "b")
        expect((yield* command("queues", "list", "b")).stdout).toMatch(/^b +runs +1 /m)
      })
    ))
})

const failing = (reason: JobStoreError["reason"]) =>
  withCommands((_, store) =>
    jobwire({ ...store, counts: () => Effect.fail(new JobStoreError({ message: "it failed", reason })) })("counts")
  )

describe("errors", () => {
  it("have exit codes by their kind", async () => {
    expect(await failing({ _tag: "Unavailable", url: "http://x", sent: false })).toMatchObject({ code: 3 })
    expect(await failing({ _tag: "DeadlineExceeded", url: "http://x", afterMs: 1 })).toMatchObject({ code: 3 })
    expect(await failing({ _tag: "Unauthorized" })).toMatchObject({ code: 4 })
    expect(await failing({ _tag: "Forbidden", scope: "read" })).toMatchObject({ code: 4 })
    expect(await failing({ _tag: "DriverFault", transient: false })).toMatchObject({
      code: 1,
      stderr: "jobwire: it failed"
    })
  })

  it("in the command line name the problem and the help", () =>
    withCommands((command) =>
      Effect.gen(function* () {
        const bad = yield* command("enqueue", "mail", "--delay", "5")
        expect(bad.code).toBe(2)
        expect(bad.stderr).toBe(
          'jobwire: Invalid value for flag --delay: "5". Expected: a number and a unit, such as 500ms, 10s, 5m, 2h or 7d\n' +
            "  jobwire enqueue --help says how to use it"
        )
        const typo = yield* command("job", "list", "--json")
        expect(json(typo.stderr)).toMatchObject({ error: { kind: "Usage" } })
        expect((yield* command("work", "mail")).stderr).toContain("no program to run")
        expect((yield* command("counts", "--url", "nonsense")).stderr).toContain("an http or https URL")
        const secret = yield* command("counts", "--url", "http://me:hunter2@localhost:1")
        expect(secret).toMatchObject({ code: 2, stdout: "" })
        expect(secret.stderr).toContain('"http://localhost:1/". Expected: a URL without user and password')
      })
    ))

  it("never hold a token", () =>
    withCommands((command) =>
      Effect.gen(function* () {
        const runs = [
          yield* command("serve", "--token", "name=a;token=s3cret;scopes=everything"),
          yield* command("serve", "--token", "token=s3cret;tokn=s3cret"),
          yield* command("serve", "--memory", "--data", "x", "--token", "s3cret"),
          yield* command("counts", "--token", "s3cret", "--bogus")
        ]
        for (const { code, stderr, stdout } of runs) {
          expect(code).toBe(2)
          expect(stdout + stderr).not.toContain("s3cret")
        }
      })
    ))
})

describe("help", () => {
  it("of every command explains it with an example", () =>
    withCommands((command) =>
      Effect.gen(function* () {
        const commands = [
          ["serve"],
          ["enqueue"],
          ["work"],
          ["counts"],
          ...["list", "show", "retry", "cancel", "promote", "remove"].map((name) => ["jobs", name]),
          ...["list", "pause", "resume"].map((name) => ["queues", name])
        ]
        for (const words of commands) {
          const { code, stdout } = yield* command(...words, "--help")
          expect(code).toBe(0)
          expect(stdout).toContain("DESCRIPTION")
          expect(stdout).toContain(`EXAMPLES`)
          expect(stdout).toContain(`jobwire ${words.join(" ")}`)
        }
      })
    ))
})
