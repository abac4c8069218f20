/**
 * What is remembered of calls, so that a repeat is answered as the first: `receipt` under their keys, see core/Receipt.ts; `job.call`
 * by what the enqueue that made the job is known again.
 */
export const sql = `
create table receipt (
  store integer not null,
  key text not null,
  body text not null,
  answer text not null,
  expires_at real not null,
  primary key (store, key)
) strict, without rowid;

create index receipt_expires on receipt (store, expires_at);

alter table job add column call text;
`
