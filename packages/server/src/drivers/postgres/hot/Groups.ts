/**
 * Claims as parameters: those for the same names of the same queue are a group, and the lists of all groups travel one behind the
 * other, each group knowing where its own begin and end.
 */
import * as Columns from "../Columns.ts"
import type { LaneStart } from "./Watermarks.ts"

/** One claim. */
export interface Claim {
  readonly token: string
  /** Whether it is the first of its call. */
  readonly leads: boolean
  /** When it is made, and until when the job is held, in epoch milliseconds. */
  readonly now: number
  readonly until: number
}

/** Claims for the same names of a queue. */
export interface Group {
  readonly store: number
  readonly queue: string
  readonly names: ReadonlyArray<string>
  /** All lanes of these names, as far as they are known, by priority, the highest first. */
  readonly lanes: ReadonlyArray<LaneStart>
  readonly claims: ReadonlyArray<Claim>
}

interface Slices {
  readonly group: Group
  readonly names: Slice
  readonly lanes: Slice
  readonly claims: Slice
}

interface Slice {
  readonly from: number
  readonly to: number
}

const slices = (groups: ReadonlyArray<Group>): ReadonlyArray<Slices> => {
  let [names, lanes, claims] = [0, 0, 0]
  return groups.map((group) => ({
    group,
    names: { from: names + 1, to: (names += group.names.length) },
    lanes: { from: lanes + 1, to: (lanes += group.lanes.length) },
    claims: { from: claims + 1, to: (claims += group.claims.length) }
  }))
}

const groupColumns: ReadonlyArray<Columns.Column<Slices>> = [
  { name: "store", type: "int4", of: ({ group }) => group.store },
  { name: "queue", type: "text", of: ({ group }) => group.queue },
  // The earliest, so that what comes due meanwhile does not keep them waiting for ever.
  {
    name: "now",
    type: "float8",
    of: ({ group }) => group.claims.reduce((first, { now }) => Math.min(first, now), Infinity)
  },
  { name: "name_from", type: "int4", of: ({ names }) => names.from },
  { name: "name_to", type: "int4", of: ({ names }) => names.to },
  { name: "lane_from", type: "int4", of: ({ lanes }) => lanes.from },
  { name: "lane_to", type: "int4", of: ({ lanes }) => lanes.to },
  { name: "first", type: "int4", of: ({ claims }) => claims.from },
  { name: "last", type: "int4", of: ({ claims }) => claims.to }
]

const claimColumns: ReadonlyArray<Columns.Column<Claim>> = [
  { name: "token", type: "text", of: ({ token }) => token },
  { name: "now", type: "float8", of: ({ now }) => now },
  { name: "until", type: "float8", of: ({ until }) => until },
  { name: "leads", type: "bool", of: ({ leads }) => leads }
]

const laneColumns: ReadonlyArray<Columns.Column<LaneStart>> = [
  { name: "lane", type: "int4", of: ({ lane }) => lane },
  { name: "priority", type: "float8", of: ({ priority }) => priority },
  { name: "start", type: "float8", of: ({ start }) => start }
]

const namesAt = groupColumns.length + 1
const claimsAt = namesAt + 1
const lanesAt = claimsAt + claimColumns.length

/** The number of the first parameter behind all of these. */
export const next = lanesAt + laneColumns.length

/** Groups as rows `w`, numbered by `position`. */
export const rows = Columns.numberedRows(groupColumns, "w")

/** The names of group `w`. */
export const names = `($${namesAt}::text[])[w.name_from:w.name_to]`

/** A field of the claim with this number. */
export const claim = {
  token: (number: string): string => `($${claimsAt}::text[])[${number}]`,
  now: (number: string): string => `($${claimsAt + 1}::float8[])[${number}]`,
  until: (number: string): string => `($${claimsAt + 2}::float8[])[${number}]`
}

/** The tokens of group `w` by which its calls are known, as rows of `token`. */
export const leaders = `(
  select t.token from unnest(
    ($${claimsAt}::text[])[w.first:w.last], ($${claimsAt + 3}::bool[])[w.first:w.last]
  ) t(token, leads) where t.leads
) t`

/** A field of the lane with this number. */
export const lane = {
  number: (number: string): string => `($${lanesAt}::int4[])[${number}]`,
  start: (number: string): string => `($${lanesAt + 2}::float8[])[${number}]::int8`
}

/** The lanes of group `w` as rows of `lane`, `priority` and `start`. */
export const lanes = `unnest(${[
  `($${lanesAt}::int4[])[w.lane_from:w.lane_to]`,
  `($${lanesAt + 1}::float8[])[w.lane_from:w.lane_to]`,
  `($${lanesAt + 2}::float8[])[w.lane_from:w.lane_to]`
].join(", ")})`

/** The parameters. */
export const parameters = (groups: ReadonlyArray<Group>): ReadonlyArray<unknown> => [
  ...Columns.parameters(groupColumns, slices(groups)),
  Columns.array(
    groups.flatMap(({ names }) => names),
    "text"
  ),
  ...Columns.parameters(
    claimColumns,
    groups.flatMap(({ claims }) => claims)
  ),
  ...Columns.parameters(
    laneColumns,
    groups.flatMap(({ lanes }) => lanes)
  )
]
