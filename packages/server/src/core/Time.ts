/** Lengths of time as the store counts them. */

/** Whole milliseconds: a fraction is rounded up, a negative length counts as 0. */
export const wholeMs = (ms: number): number => Math.max(0, Math.ceil(ms))
