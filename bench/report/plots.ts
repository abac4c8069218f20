/** The plots: how rates change with what is there, and with how many call. */
import { curvesOf, shareAt, sizesOf } from "./curves.ts"
import type { Results } from "./Results.ts"
import { type Chart, draw } from "./svg.ts"

const share = "share of the rate at first"

const growth = [
  { workload: "waiting", title: "Drain with jobs waiting behind", xLabel: "jobs waiting" },
  { workload: "finished", title: "Drain with finished jobs kept", xLabel: "jobs finished" },
  { workload: "transaction", title: "Drain beside an old transaction", xLabel: "age of the transaction, seconds" }
] as const

/** A plot by the name of its file. */
export interface Plot {
  readonly name: string
  readonly title: string
  readonly svg: string
}

const plot = (name: string, chart: Chart): Plot => ({ name, title: chart.title, svg: draw(chart) })

const growthPlot = (results: Results, { title, workload, xLabel }: (typeof growth)[number]): ReadonlyArray<Plot> => {
  const curves = curvesOf(results, workload)
  if (curves.length === 0) return []
  const sizes = sizesOf(curves)
  const series = curves.map((curve) => ({ label: curve.label, values: sizes.map((size) => shareAt(curve, size)) }))
  const ticks = sizes.map((size) => size.toLocaleString("en"))
  return [plot(workload, { title, xLabel, yLabel: share, ticks, series })]
}

/** How rates change with how many call. */
export const callersPlot = (results: Results): ReadonlyArray<Plot> => {
  const curves = curvesOf(results, "enqueue")
  if (curves.length === 0) return []
  const sizes = sizesOf(curves)
  const series = curves.map(({ label, points }) => ({
    label,
    values: sizes.map((size) => points.find((point) => point.size === size)?.value)
  }))
  const chart = { title: "Enqueue, one job a call", xLabel: "callers", yLabel: "jobs a second" }
  return [plot("enqueue", { ...chart, ticks: sizes.map(String), series })]
}

/** Of the long workloads: how rates change with what is there. */
export const growthPlots = (results: Results): ReadonlyArray<Plot> => growth.flatMap((one) => growthPlot(results, one))

/** All for which there are figures. */
export const plotsOf = (results: Results): ReadonlyArray<Plot> => [...callersPlot(results), ...growthPlots(results)]
