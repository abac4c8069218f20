/** Cutting a long list, so that each part is within what one call may hold. */

/** What one part may hold. */
export interface ChunkLimits {
  readonly length: number
  readonly bytes: number
}

/** The items in parts, in order and none of them empty. An item that is too big by itself gets a part of its own. */
export const chunksOf = <A>(
  items: ReadonlyArray<A>,
  limits: ChunkLimits,
  sizeOf: (item: A) => number
): ReadonlyArray<ReadonlyArray<A>> => {
  const chunks: Array<Array<A>> = []
  let chunk: Array<A> = []
  let bytes = 0
  for (const item of items) {
    const size = sizeOf(item)
    if (chunk.length > 0 && (chunk.length >= limits.length || bytes + size > limits.bytes)) {
      chunks.push(chunk)
      chunk = []
      bytes = 0
    }
    chunk.push(item)
    bytes += size
  }
  if (chunk.length > 0) chunks.push(chunk)
  return chunks
}
