/** Line charts as SVG: a few series over a few sizes. */

/** One line. */
export interface Series {
  readonly label: string
  /** A value for each of the chart's ticks, or none. */
  readonly values: ReadonlyArray<number | undefined>
}

/** A chart. The ticks stand at equal distances, whatever they say. */
export interface Chart {
  readonly title: string
  readonly xLabel: string
  readonly yLabel: string
  readonly ticks: ReadonlyArray<string>
  readonly series: ReadonlyArray<Series>
}

const width = 860
const plot = { left: 80, top: 44, width: 400, height: 260 }
const legendLine = 20

// Told apart by colour, and where the colours begin anew by dashes.
const colours = ["#1b6ca8", "#c44536", "#2e7d32", "#8e44ad", "#b7791f", "#00838f", "#5d4037", "#d81b60"]
const dashes = ["", "6 3", "2 3", "8 3 2 3"]

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const text = (x: number, y: number, content: string, anchor: "start" | "middle" | "end", rest = ""): string =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}"${rest}>${escape(content)}</text>`

/** A round number not below the highest value, and the distance of its lines. */
const scaleFor = (highest: number): { readonly top: number; readonly step: number } => {
  const rough = Math.max(highest, Number.MIN_VALUE) / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power
  return { top: Math.ceil(highest / step) * step, step }
}

const xOf = (index: number, ticks: number): number =>
  plot.left + (ticks === 1 ? plot.width / 2 : (index / (ticks - 1)) * plot.width)

const grid = (top: number, step: number): ReadonlyArray<string> =>
  Array.from({ length: Math.round(top / step) + 1 }, (_, index) => {
    const y = plot.top + plot.height * (1 - (index * step) / top)
    const label = Number((index * step).toPrecision(4)).toLocaleString("en")
    const line = `<line x1="${plot.left}" x2="${plot.left + plot.width}" y1="${y}" y2="${y}" stroke="#ddd"/>`
    return line + text(plot.left - 8, y + 4, label, "end")
  })

const lineOf = ({ label, values }: Series, index: number, top: number): string => {
  const colour = colours[index % colours.length]
  const dash = dashes[Math.floor(index / colours.length) % dashes.length]
  const points = values.flatMap((value, tick) =>
    value === undefined ? [] : [{ x: xOf(tick, values.length), y: plot.top + plot.height * (1 - value / top) }]
  )
  const path = points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")
  const dots = points.map(({ x, y }) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3" fill="${colour}"/>`)
  const y = plot.top + 8 + index * legendLine
  const x = plot.left + plot.width + 20
  const stroke = `stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"`
  return [
    `<polyline points="${path}" fill="none" ${stroke}/>`,
    ...dots,
    `<line x1="${x}" x2="${x + 22}" y1="${y}" y2="${y}" ${stroke}/>`,
    text(x + 28, y + 4, label, "start")
  ].join("")
}

/** Draws it. */
export const draw = ({ series, ticks, title, xLabel, yLabel }: Chart): string => {
  const { step, top } = scaleFor(Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))))
  const bottom = plot.top + plot.height
  const height = Math.max(bottom + 56, plot.top + (series.length + 1) * legendLine)
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
      `font-family="sans-serif" font-size="12" fill="#222">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(plot.left, 24, title, "start", ' font-size="15" font-weight="bold"'),
    ...grid(top, step),
    ...ticks.map((tick, index) => text(xOf(index, ticks.length), bottom + 18, tick, "middle")),
    text(plot.left + plot.width / 2, bottom + 40, xLabel, "middle"),
    text(14, plot.top + plot.height / 2, yLabel, "middle", ` transform="rotate(-90 14 ${plot.top + plot.height / 2})"`),
    ...series.map((one, index) => lineOf(one, index, top)),
    "</svg>"
  ]
  return `${lines.join("\n")}\n`
}
