/** `RESULTS.md`, made of the raw results alone. */
import { contenders } from "../contenders/list.ts"
import { limits } from "../limits/list.ts"
import { settings as postgresSettings } from "../services/postgres.ts"
import { compare, comparisons } from "./comparisons.ts"
import { type Curve, curvesOf, shareAt, sizesOf } from "./curves.ts"
import { figureText, isTime, milliseconds, rate, ratio, table } from "./format.ts"
import { callersPlot, growthPlots, type Plot } from "./plots.ts"
import type { Results } from "./Results.ts"

const columns = [
  ["enqueue@1", "enqueue, 1 caller"],
  ["enqueue@16", "16 callers"],
  ["enqueue@64", "64 callers"],
  ["bulk", "in bulk"],
  ["drain", "drain"],
  ["steady", "enqueue and work"],
  ["wake@p50", "wake p50, ms"],
  ["wake@p99", "p99, ms"]
] as const

const everybody = [...contenders, ...limits]

const labelOf = (name: string): string => everybody.find((one) => one.name === name)?.label ?? name

const ratesTable = ({ cells }: Results): string => {
  const rows = contenders.flatMap(({ label, name }) => {
    const own = cells[name] ?? {}
    if (!columns.some(([figure]) => own[figure] !== undefined)) return []
    return [
      [label, ...columns.map(([figure]) => (own[figure] === undefined ? "" : figureText(figure, own[figure].values)))]
    ]
  })
  return table(["", ...columns.map(([, head]) => head)], rows)
}

const limitsTable = ({ cells }: Results): string => {
  const rows = limits.flatMap(({ label, name, settings }) => {
    const cell = cells[name]?.["limit"]
    return cell === undefined ? [] : [[label, figureText("limit", cell.values), settings]]
  })
  return table(["", "a second", "what"], rows)
}

const ratiosTable = (results: Results): string => {
  const rows = comparisons.flatMap((comparison) => {
    const compared = compare(results, comparison)
    if (compared === undefined) return []
    const { best, ours, theirs } = compared
    const text = isTime(comparison.figure) ? milliseconds : rate
    const beside = `${comparison.called} (${labelOf(best)})`
    return [[`${comparison.what}, beside ${beside}`, text(ours), text(theirs), ratio(ours / theirs)]]
  })
  return table(["", "Jobwire", "the other", "ratio"], rows)
}

interface LongWorkload {
  readonly name: string
  readonly title: string
  readonly about: string
}

const longWorkloads: ReadonlyArray<LongWorkload> = [
  {
    name: "waiting",
    title: "Drain with many waiting",
    about: "Jobs a second for 20,000 jobs, by how many wait in the queue."
  },
  {
    name: "finished",
    title: "Drain with many finished",
    about: "Jobs a second for 20,000 jobs, by how many finished jobs the store keeps. graphile-worker keeps none."
  },
  {
    name: "transaction",
    title: "Drain beside an old transaction",
    about:
      "Jobs a second, by the age in seconds of a `repeatable read` transaction that somebody else holds open; 0 is before it."
  },
  {
    name: "queues",
    title: "Many queues",
    about: "Jobs a second for 20,000 jobs, by how many queues they are spread over."
  },
  {
    name: "names",
    title: "A rare name",
    about: "Jobs a second for 2,000 jobs of one name, by how many jobs of another name stand before them in the queue."
  }
]

const curveRow = (curve: Curve, sizes: ReadonlyArray<number>): ReadonlyArray<string> => {
  const last = shareAt(curve, sizes.at(-1) ?? 0)
  const values = sizes.map((size) => curve.points.find((point) => point.size === size)?.value)
  return [
    curve.label,
    ...values.map((value) => (value === undefined ? "" : rate(value))),
    last === undefined ? "" : ratio(last)
  ]
}

const longSection = (results: Results, { about, name, title }: LongWorkload): string => {
  const curves = curvesOf(results, name)
  if (curves.length === 0) return ""
  const sizes = sizesOf(curves)
  const head = ["", ...sizes.map((size) => size.toLocaleString("en")), "last ÷ first"]
  const rows = curves.map((curve) => curveRow(curve, sizes))
  return [`### ${title}`, about, table(head, rows)].join("\n\n")
}

const pictures = (plots: ReadonlyArray<Plot>): ReadonlyArray<string> =>
  plots.map(({ name, title }) => `![${title}](plots/${name}.svg)`)

const troublesSection = ({ troubles }: Results): string => {
  const rows = Object.entries(troubles).flatMap(([name, of]) =>
    // The first line says it; the rest is a stack.
    Object.entries(of).map(([workload, { message }]) => `- ${labelOf(name)}, ${workload}: ${message.split("\n")[0]}`)
  )
  return rows.length === 0 ? "Nothing failed, and nobody was left out." : rows.join("\n")
}

const runsSection = ({ runs }: Results): string =>
  Object.entries(runs)
    .map(([name, { machine, rounds, services }]) =>
      [
        `- ${name}: ${machine}; ${rounds} ${rounds === 1 ? "round" : "rounds"}`,
        ...services.map((service) => `  - ${service}`)
      ].join("\n")
    )
    .join("\n")

const settingsSection = ({ cells, troubles }: Results): string => {
  const chosen = Object.entries(postgresSettings).map(([name, value]) => `${name} ${value}`)
  return [
    ...everybody
      .filter(({ name }) => cells[name] !== undefined || troubles[name] !== undefined)
      .map(({ label, settings }) => `- ${label}: ${settings}`),
    `- PostgreSQL, for everybody who is on it: ${chosen.join(", ")}; all else is its default.`
  ].join("\n")
}

const growthSection = (results: Results): string =>
  [...longWorkloads.map((workload) => longSection(results, workload)), ...pictures(growthPlots(results))]
    .filter((part) => part !== "")
    .join("\n\n")

/** A section, when there is anything to say in it. */
const section = (title: string, ...parts: ReadonlyArray<string>): ReadonlyArray<string> =>
  parts.at(-1) === "" ? [] : [`## ${title}`, ...parts]

/** The whole page. */
export const renderMarkdown = (results: Results): string => {
  const paragraphs = [
    "# Results",
    "Written by `npm run bench -- --write` from [results.json](results.json), which has every round. What was measured and how is in\n" +
      "[docs/performance.md](../docs/performance.md). Figures are medians, in jobs a second unless said. Ratios are only made of what was\n" +
      "measured in one run.",
    ...section(
      "Ratios",
      "Above 1 is more of ours than of the other's: for rates that is better, for times worse.",
      ratiosTable(results)
    ),
    ...section("Rates", ...pictures(callersPlot(results)), ratesTable(results)),
    ...section("Limits", limitsTable(results)),
    ...section("Growth", growthSection(results)),
    ...section("Settings", settingsSection(results)),
    ...section("Left out or failed", troublesSection(results)),
    ...section("Runs", runsSection(results))
  ]
  return `${paragraphs.join("\n\n")}\n`
}
