/** Which figures are set against which. Only what was measured in one run is. */
import { median, type Results } from "./Results.ts"

/** A comparison: one of ours against the best of others. */
export interface Comparison {
  readonly what: string
  readonly figure: string
  readonly ours: string
  readonly others: ReadonlyArray<string>
  /** The figure of the others, where it is not the same. */
  readonly otherFigure?: string
  /** What the others are called together. */
  readonly called: string
}

const effectMq = ["effect-mq-postgres", "effect-mq-postgres-rc"]
const postgresPeers = [...effectMq, "pg-boss", "pg-boss-notify", "graphile-worker", "graphile-worker-batched"]
const ours = "jobwire-postgres-websocket"
const bestPeer = "the best Postgres peer"

const rates = [
  ["drain", "drain"],
  ["steady", "enqueue and work at once"],
  ["enqueue@64", "enqueue, 64 callers"],
  ["bulk", "enqueue in bulk"]
] as const

/** In the order of the table. */
export const comparisons: ReadonlyArray<Comparison> = [
  ...rates.flatMap(([figure, what]) => [
    { what, figure, ours, others: effectMq, called: "effect-mq's Postgres store, the faster of its two" },
    { what, figure, ours, others: postgresPeers, called: bestPeer }
  ]),
  { what: "drain", figure: "drain", ours, others: ["pgbench"], otherFigure: "limit", called: "pgbench's commits" },
  { what: "wake, median", figure: "wake@p50", ours, others: postgresPeers, called: bestPeer },
  {
    what: "drain, sqlite",
    figure: "drain",
    ours: "jobwire-sqlite-websocket",
    others: ["jobwire-sqlite-in-process"],
    called: "its own driver in-process"
  },
  ...["websocket", "http"].map((transport) => ({
    what: `enqueue, 64 callers, memory, ${transport === "http" ? "HTTP" : "WebSocket"}`,
    figure: "enqueue@64",
    ours: `jobwire-memory-${transport}`,
    others: [`echo-${transport}`],
    otherFigure: "limit",
    called: "the bare echo"
  }))
]

/** A comparison that was made. */
export interface Compared {
  readonly ours: number
  readonly theirs: number
  /** Whose figure was the best. */
  readonly best: string
}

/** Makes it; none when the two were not measured in one run. */
export const compare = (results: Results, comparison: Comparison): Compared | undefined => {
  const { figure, otherFigure = figure, others } = comparison
  const own = results.cells[comparison.ours]?.[figure]
  if (own === undefined) return undefined
  const rivals = others.flatMap((name) => {
    const cell = results.cells[name]?.[otherFigure]
    return cell?.run === own.run ? [{ name, value: median(cell.values) }] : []
  })
  // The best time is the shortest.
  const sign = figure.startsWith("wake@") ? 1 : -1
  const [best] = rivals.toSorted((a, b) => sign * (a.value - b.value))
  return best === undefined ? undefined : { ours: median(own.values), theirs: best.value, best: best.name }
}
