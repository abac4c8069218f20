/** What the demo and its workers agree on. */

/** The queue of the demo. */
export const queue = "texts"

/** The name of the demo's jobs. */
export const task = "read-text"

/** How long a worker may be silent before its job goes to another, in milliseconds: short, so that the demo is. */
export const lease = 1500

/** How long a worker takes over one file, in milliseconds: long enough to be killed in the middle of one. */
export const pace = 40
