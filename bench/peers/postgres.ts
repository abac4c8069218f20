/** SQL to a database of the bench. The PostgreSQL client lies with the peers, who need it too. */
import { Client } from "pg"
import type { Sql } from "../services/Sql.ts"

/** Opens one connection. */
export const connect = async (url: string): Promise<Sql> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  return {
    run: async (text) => {
      await client.query(text)
    },
    number: async (text) => Number(Object.values((await client.query(text)).rows[0] ?? {})[0]),
    text: async (text) => String(Object.values((await client.query(text)).rows[0] ?? {})[0]),
    close: () => client.end()
  }
}

/** Does one thing on a connection of its own. */
export const withSql = async <A>(url: string, use: (sql: Sql) => Promise<A>): Promise<A> => {
  const sql = await connect(url)
  try {
    return await use(sql)
  } finally {
    await sql.close()
  }
}
