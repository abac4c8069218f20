/** A connection to a database of the bench. */
export interface Sql {
  readonly run: (text: string) => Promise<void>
  /** The first column of the first row. */
  readonly number: (text: string) => Promise<number>
  readonly text: (text: string) => Promise<string>
  readonly close: () => Promise<void>
}

interface Postgres {
  readonly connect: (url: string) => Promise<Sql>
}

/** Opens one connection. The client is one of the bench's own dependencies, so it is only loaded when it is used. */
export const connectSql = async (url: string): Promise<Sql> => {
  // The type checker of the whole repository works without those dependencies, so it must not follow this import.
  const module = new URL("../peers/postgres.ts", import.meta.url).href
  const { connect } = (await import(module)) as Postgres
  return connect(url)
}
