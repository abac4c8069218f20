/**
 * The optional index for lists by metadata. It makes a filter by rare metadata quick, and every enqueue with metadata slower, so it
 * is made by hand (`jobwire migrate --metadata-index`) and used where it is there. Jobs without metadata are not in it.
 */

// The store is a term of the index like the entries of the metadata, so that a look-up meets no other store's jobs.
const storeKey = "\\u0001"

/** The value that the index holds of a job's metadata. */
export const storeTerm = (metadata: string, store: string): string =>
  `(${metadata} || ('{"${storeKey}":' || ${store}::text || '}')::jsonb)`

/** Its name. */
export const indexName = "job_metadata"

/** Makes it, while others go on writing. */
export const createIndex = `create index concurrently if not exists ${indexName} on job using gin (${storeTerm("metadata", "store")} jsonb_path_ops)
  where metadata is not null`

/** Deletes it, while others go on writing. */
export const dropIndex = `drop index concurrently if exists ${indexName}`

/** Whether it is there and complete. */
export const findIndex = `select count(*)::float8 from pg_index where indexrelid = to_regclass('${indexName}') and indisvalid`
