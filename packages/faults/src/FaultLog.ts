/** What was hit, and how: the latest entries in memory, all of them in a file if one is wanted, and counts. */
import { Effect, type Scope } from "effect"
import { closeSync, openSync, writeSync } from "node:fs"
import type { Decision } from "./Decision.ts"
import { FaultsError, textOf } from "./FaultsError.ts"
import { type Kind, kinds, type Target, targets } from "./Kinds.ts"
import { describe } from "./Words.ts"

/** One hit. */
export interface Entry {
  /** The number of what was hit. With the seed, it stands for the decision. */
  readonly n: number
  /** When, as ISO 8601 in UTC. */
  readonly at: string
  /** The number of the client's connection. */
  readonly connection: number
  readonly target: Target
  /** The method and the path, without its query; or the size of the message's first frame. */
  readonly what: string
  readonly kind: Kind
  /** What was done, in words. */
  readonly how: string
}

/** What has come and what was hit, since the start. */
export interface Counts {
  /** Of each target, how many have come. */
  readonly seen: Readonly<Record<Target, number>>
  /** Of each kind of fault, how many there were. */
  readonly hits: Readonly<Record<Kind, number>>
  /** How many repeats were not done, as there was no room for a copy or its connection had ended. */
  readonly skipped: number
  /** How often a server could not be reached, or went away before it had answered: no fault of this proxy's making. */
  readonly troubles: number
}

/** How many entries are kept in memory. */
const keptEntries = 10_000

const zeros = <K extends string>(names: ReadonlyArray<K>): Record<K, number> =>
  // Every name becomes a key.
  Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>

/** A log that is open. */
export interface FaultLog {
  readonly seen: (target: Target) => void
  readonly hit: (n: number, connection: number, target: Target, what: string, decision: Decision) => void
  readonly skipped: (n: number, why: string) => void
  readonly trouble: (connection: number, why: string) => void
  /** Writes a line that is no entry: the settings, at the start and when they change. */
  readonly note: (line: Readonly<Record<string, unknown>>) => void
  readonly entries: () => ReadonlyArray<Entry>
  readonly counts: () => Counts
}

interface File {
  readonly write: (line: unknown) => void
}

const nowhere: File = { write: () => undefined }

// Each line is written at once: the last ones before a crash are those that matter.
const openFile = (path: string): Effect.Effect<File, FaultsError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => openSync(path, "w"),
      catch: (thrown) => new FaultsError({ message: `cannot write the log ${path}: ${textOf(thrown)}` })
    }),
    (file) => Effect.sync(() => closeSync(file))
  ).pipe(
    Effect.map((file) => {
      let isBroken = false
      return {
        write: (line) => {
          if (isBroken) return
          try {
            writeSync(file, `${JSON.stringify(line)}\n`)
          } catch (thrown) {
            isBroken = true
            Effect.runFork(Effect.logError(`the log ${path} ends here, as it cannot be written: ${textOf(thrown)}`))
          }
        }
      }
    })
  )

const at = (): string => new Date().toISOString()

/** A log for as long as the scope is open. */
export const make = Effect.fnUntraced(function* (path: string | undefined) {
  const file = path === undefined ? nowhere : yield* openFile(path)
  const seen = zeros(targets)
  const hits = zeros(kinds)
  let skipped = 0
  let troubles = 0
  let entries: Array<Entry> = []
  const log: FaultLog = {
    seen: (target) => {
      seen[target]++
    },
    hit: (n, connection, target, what, decision) => {
      hits[decision.kind]++
      const how = describe(target, decision)
      const entry: Entry = { n, at: at(), connection, target, what, kind: decision.kind, how }
      // Cut down now and then, so that an entry costs no move of all the others.
      if (entries.length >= 2 * keptEntries) entries = entries.slice(-keptEntries)
      entries.push(entry)
      file.write(entry)
    },
    skipped: (n, why) => {
      skipped++
      file.write({ n, at: at(), skipped: why })
    },
    trouble: (connection, why) => {
      troubles++
      file.write({ at: at(), connection, trouble: why })
    },
    note: (line) => file.write({ at: at(), ...line }),
    entries: () => entries.slice(-keptEntries),
    counts: () => ({ seen: { ...seen }, hits: { ...hits }, skipped, troubles })
  }
  return log
})
