/**
 * Numbers by a seed. To every number of the counter belongs a row of draws that depends on the seed and on that number alone:
 * so what is drawn for one message is the same whatever was drawn for the others.
 */

/** Gives the draw of this name, from 0 to below 1. */
export interface Draws {
  (name: DrawName): number
}

// Each decision takes the draws it needs by name, so that a new one moves none of the others.
const places = { hit: 0, kind: 1, first: 2, second: 3, amount: 4 } as const

/** What a draw is for. */
export type DrawName = keyof typeof places

// The last steps of MurmurHash3: every bit of the input changes half of the output's.
const mix = (value: number): number => {
  let hash = value
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

const golden = 0x9e3779b9

/** The draws of number `n` by this seed, which is a whole number of 32 bits. */
export const drawsOf = (seed: number, n: number): Draws => {
  const row = mix(mix(seed ^ golden) + Math.imul(n, golden))
  return (name) => (mix(row + Math.imul(places[name] + 1, golden)) >>> 0) / 2 ** 32
}
