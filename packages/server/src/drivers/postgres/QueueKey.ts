/**
 * A queue as a number, for the index that lets one token hold one job of a queue: two servers that take a job for the same token at
 * the same moment collide there, and the one that comes second finds what the token holds. Two queues with one number, which is
 * rare, only mean that one token cannot hold a job of each at once.
 */

/** FNV-1a over the code units, as a signed 32-bit number. The same in every version: it stands in rows. */
export const queueKey = (queue: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < queue.length; index++) hash = Math.imul(hash ^ queue.charCodeAt(index), 0x01000193)
  return hash | 0
}
