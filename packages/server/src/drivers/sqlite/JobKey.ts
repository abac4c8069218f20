/**
 * The key of a job's rows: the store's id in the upper bits, the job's number in the lower 42. So the rows of a store lie
 * together, in the order of insertion, in a table whose key is one integer. It passes 2^53, so only SQL sees it.
 */

const numberBits = 42

/** The most stores of one database: what is left of 63 bits. */
export const mostStores = 2 ** (63 - numberBits) - 1

/** SQL for the key that the store and the number give. */
export const keyOf = (store: string, seq: string): string => `((${store} << ${numberBits}) | ${seq})`

/** SQL for the number in a key. */
export const seqOf = (key: string): string => `(${key} & ${2 ** numberBits - 1})`
