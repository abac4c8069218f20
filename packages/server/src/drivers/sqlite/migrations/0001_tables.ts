/**
 * The first layout. Every table and every index leads with the store. A job is two rows under one key (see JobKey.ts):
 * `job` holds what its producer said, is wide and written once; `status` holds what changes and stays narrow, so that a
 * claim, a heartbeat or an ack never writes a payload again. A lane is the jobs of one queue and name: rows and indexes
 * hold its number in place of two names, and its row holds the tally of each state and the times between which all times of
 * its jobs lie. Times are REAL, as a clock gives
 * them; SQLite keeps whole ones as integers. States are the numbers of Codes.ts.
 */
export const sql = `
create table store (
  store integer primary key,
  tenant text not null,
  name text not null,
  next_number integer not null,
  unique (tenant, name)
) strict;

create table lane (
  store integer not null,
  lane integer not null,
  queue text not null,
  name text not null,
  earliest real not null,
  latest real not null,
  waiting integer not null,
  delayed integer not null,
  active integer not null,
  waiting_children integer not null,
  completed integer not null,
  failed integer not null,
  cancelled integer not null,
  primary key (store, lane),
  unique (store, queue, name)
) strict, without rowid;

create table job (
  key integer primary key,
  payload text,
  metadata text,
  attempts_max integer not null,
  backoff text,
  keep text,
  timeout_ms real,
  dedupe_key text,
  trace text,
  parent text
) strict;

create table status (
  key integer primary key,
  store integer not null,
  id text not null,
  lane integer not null,
  state integer not null,
  priority integer not null,
  place integer not null,
  run_at real not null,
  enqueued_at real not null,
  token text,
  lock_until real,
  processed_at real,
  finished_at real,
  attempts_made integer not null,
  stalled_count integer not null,
  ledger_length integer not null,
  cancel_requested integer not null,
  flow text,
  failed_reason text,
  exit text
) strict;

create unique index status_id on status (store, id);
create index status_line on status (store, lane, priority desc, place) where state = 0;
create index status_token on status (store, token) where state = 2;
create index status_lease on status (store, lock_until) where state = 2;
create index status_enqueued on status (store, lane, state, enqueued_at);
create index status_run on status (store, lane, state, run_at);
create index status_finished on status (store, lane, state, finished_at, place) where state >= 4;

create table attempt (
  store integer not null,
  seq integer not null,
  attempt integer not null,
  started_at real,
  finished_at real not null,
  outcome integer not null,
  token text,
  acked integer,
  exit text,
  primary key (store, seq, attempt)
) strict, without rowid;

create table dedupe (
  store integer not null,
  name text not null,
  key text not null,
  job_id text not null,
  expires_at real,
  primary key (store, name, key)
) strict, without rowid;

create table pause (
  store integer not null,
  queue text not null,
  primary key (store, queue)
) strict, without rowid;

create table schedule (
  store integer not null,
  key text not null,
  next_run_at real not null,
  record text not null,
  primary key (store, key)
) strict, without rowid;

create index schedule_due on schedule (store, next_run_at, key);

create table child (
  store integer not null,
  flow_id text not null,
  child_key text not null,
  status integer not null,
  cascaded integer not null,
  pending_since real not null,
  store_key text not null,
  name text not null,
  child_job_id text not null,
  failed_reason text,
  exit text,
  primary key (store, flow_id, child_key)
) strict, without rowid;

create index child_pending on child (store, pending_since, flow_id, child_key) where status = 0;
create index child_owed on child (store, flow_id, child_key) where status = 3 and cascaded = 0;

create table child_request (
  store integer not null,
  flow_id text not null,
  child_key text not null,
  request text not null,
  primary key (store, flow_id, child_key)
) strict, without rowid;

create table outbox (
  store integer not null,
  seq integer not null,
  flow_name text not null,
  parent_store_key text not null,
  flow_id text not null,
  child_key text not null,
  outcome integer not null,
  failed_reason text,
  exit text,
  primary key (store, seq)
) strict, without rowid;
`
