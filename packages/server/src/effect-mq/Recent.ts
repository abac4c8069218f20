/** A map of bounded size that forgets what was used longest ago. */
export interface Recent<Key, Value> {
  /** The value; from now on the one that was used last. */
  readonly get: (key: Key) => Value | undefined
  readonly set: (key: Key, value: Value) => void
  readonly delete: (key: Key) => void
}

/** An empty map for at most `capacity` keys. */
export const makeRecent = <Key, Value>(capacity: number): Recent<Key, Value> => {
  // A map keeps the order of insertion, so its first key is the one that was used longest ago.
  const values = new Map<Key, Value>()
  const use = (key: Key, value: Value): void => {
    values.delete(key)
    values.set(key, value)
    if (values.size > capacity) for (const oldest of values.keys()) return void values.delete(oldest)
  }
  return {
    get: (key) => {
      const value = values.get(key)
      if (value !== undefined) use(key, value)
      return value
    },
    set: use,
    delete: (key) => void values.delete(key)
  }
}
