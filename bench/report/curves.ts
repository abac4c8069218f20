/** The figures of a workload that was measured at several sizes. */
import { contenders } from "../contenders/list.ts"
import { median, type Results } from "./Results.ts"

/** A point: the size, and the median there. */
export interface Point {
  readonly size: number
  readonly value: number
}

/** One contender's points, by size. */
export interface Curve {
  readonly label: string
  readonly points: ReadonlyArray<Point>
}

/** The curves of a workload, in the order of the contenders. */
export const curvesOf = (results: Results, workload: string): ReadonlyArray<Curve> =>
  contenders.flatMap(({ label, name }) => {
    const points = Object.entries(results.cells[name] ?? {})
      .filter(([figure]) => figure.startsWith(`${workload}@`))
      .map(([figure, { values }]) => ({ size: Number(figure.slice(workload.length + 1)), value: median(values) }))
      .toSorted((a, b) => a.size - b.size)
    return points.length > 1 ? [{ label, points }] : []
  })

/** The sizes that occur, in order. */
export const sizesOf = (curves: ReadonlyArray<Curve>): ReadonlyArray<number> =>
  [...new Set(curves.flatMap(({ points }) => points.map(({ size }) => size)))].toSorted((a, b) => a - b)

/** What is left at a size of the rate at the first. */
export const shareAt = ({ points }: Curve, size: number): number | undefined => {
  const at = points.find((point) => point.size === size)
  const [first] = points
  return at === undefined || first === undefined ? undefined : at.value / first.value
}
