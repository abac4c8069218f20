/** Which items of a statement were carried out. */
import type { Row } from "../Connections.ts"

/** The positions, from 0, that a statement answers as one array of numbers from 1. */
export const decode = (rows: ReadonlyArray<Row>): ReadonlySet<number> => {
  const positions = rows[0]?.[0]
  return new Set(Array.isArray(positions) ? positions.map((position) => Number(position) - 1) : [])
}
