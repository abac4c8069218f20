/**
 * The first layout. Every table and every index leads with the store.
 *
 * A job is a row of `job`, written once (only a replacing enqueue changes it), and beside it a row of `live` while it can still
 * change, or a row of `done` once it is finished: a claim, a heartbeat or an ack never writes a payload again, and the indexes
 * that claims read hold nothing but jobs that can be claimed. The ledger entry that finished a job stands in its `done` row;
 * `attempt` holds the earlier ones.
 *
 * A lane is the jobs of one queue, name and priority: within a lane the line is the order of `place` alone. Waiting jobs that
 * came back (released, recovered, promoted) stand in an index of their own, because new ones only ever join at the end: so a
 * taker may remember how far the head of a lane has moved and need not walk over what others have taken.
 *
 * A token holds one job of a queue at most, which a unique index sees to: `queue_key` is the queue as a number (QueueKey.ts).
 *
 * `tally` counts the jobs of a lane by state; changes are appended to `tally_change`, so that no two writers wait for one row,
 * and folded into it now and then. `origin` names this database among all, for wake tokens. Times are float8, as a clock gives them. States and outcomes are the numbers of Codes.ts;
 * `live.state` splits waiting in two, see RowStates.ts.
 */
export const sql: ReadonlyArray<string> = [
  `create table origin (origin text not null)`,
  `insert into origin (origin) values (gen_random_uuid()::text)`,

  `create sequence number as int8`,

  `create table store (
    store int4 generated always as identity primary key,
    tenant text collate "C" not null,
    name text collate "C" not null,
    unique (tenant, name)
  )`,

  `create table lane (
    store int4 not null,
    lane int4 generated always as identity,
    queue text collate "C" not null,
    name text collate "C" not null,
    priority float8 not null,
    primary key (store, queue, name, priority)
  )`,
  `create unique index lane_number on lane (store, lane)`,
  `create index lane_name on lane (store, name)`,

  `create table job (
    store int4 not null,
    seq int8 not null,
    id text collate "C" not null,
    enqueued_at float8 not null,
    payload json,
    metadata jsonb,
    attempts_max float8 not null,
    backoff text,
    keep text,
    timeout_ms float8,
    dedupe_key text,
    trace text,
    parent text,
    primary key (store, seq)
  )`,
  `create unique index job_id on job (store, id)`,
  `create index job_enqueued on job (store, enqueued_at, id)`,

  `create table live (
    store int4 not null,
    seq int8 not null,
    lane int4 not null,
    queue_key int4 not null,
    place int8 not null,
    state int2 not null,
    plain bool not null,
    cancel_requested bool not null,
    attempts_made int4 not null,
    stalled_count int4 not null,
    ledger_length int4 not null,
    run_at float8 not null,
    processed_at float8,
    lock_until float8,
    token text collate "C",
    flow text,
    primary key (store, seq)
  ) with (fillfactor = 70)`,
  `create index live_fresh on live (store, lane, place) where state = 0`,
  `create index live_returned on live (store, lane, place) where state = 7`,
  `create index live_delayed on live (store, lane, run_at) where state = 1`,
  `create unique index live_token on live (store, token, queue_key) where state = 2`,

  `create table done (
    store int4 not null,
    seq int8 not null,
    lane int4 not null,
    place int8 not null,
    state int2 not null,
    attempts_made int4 not null,
    stalled_count int4 not null,
    ledger_length int4 not null,
    run_at float8 not null,
    processed_at float8,
    finished_at float8 not null,
    keep_until float8,
    outcome int2 not null,
    acked int2,
    token text collate "C",
    exit json,
    failed_reason text,
    flow text,
    primary key (store, seq)
  )`,
  `create index done_finished on done (store, lane, state, finished_at, place)`,
  `create index done_keep on done (store, keep_until) where keep_until is not null`,

  `create table attempt (
    store int4 not null,
    seq int8 not null,
    attempt int4 not null,
    started_at float8,
    finished_at float8 not null,
    outcome int2 not null,
    acked int2,
    token text collate "C",
    exit json,
    primary key (store, seq, attempt)
  )`,

  `create table tally (
    store int4 not null,
    lane int4 not null,
    waiting int8 not null,
    delayed int8 not null,
    active int8 not null,
    waiting_children int8 not null,
    completed int8 not null,
    failed int8 not null,
    cancelled int8 not null,
    primary key (store, lane)
  )`,
  `create table tally_change (
    store int4 not null,
    lane int4 not null,
    waiting int4 not null default 0,
    delayed int4 not null default 0,
    active int4 not null default 0,
    waiting_children int4 not null default 0,
    completed int4 not null default 0,
    failed int4 not null default 0,
    cancelled int4 not null default 0
  )`,

  `create table dedupe (
    store int4 not null,
    name text collate "C" not null,
    key text collate "C" not null,
    job_id text collate "C" not null,
    expires_at float8,
    primary key (store, name, key)
  )`,
  `create index dedupe_over on dedupe (store, expires_at) where expires_at is not null`,

  `create table pause (
    store int4 not null,
    queue text collate "C" not null,
    primary key (store, queue)
  )`,

  `create table schedule (
    store int4 not null,
    key text collate "C" not null,
    next_run_at float8 not null,
    record text not null,
    primary key (store, key)
  )`,
  `create index schedule_due on schedule (store, next_run_at, key)`,

  `create table child (
    store int4 not null,
    flow_id text collate "C" not null,
    child_key text collate "C" not null,
    status int2 not null,
    cascaded bool not null,
    pending_since float8 not null,
    store_key text not null,
    name text not null,
    child_job_id text not null,
    failed_reason text,
    exit json,
    primary key (store, flow_id, child_key)
  )`,
  `create index child_pending on child (store, pending_since, flow_id, child_key) where status = 0`,
  `create index child_owed on child (store, flow_id, child_key) where status = 3 and not cascaded`,

  `create table child_request (
    store int4 not null,
    flow_id text collate "C" not null,
    child_key text collate "C" not null,
    request json not null,
    primary key (store, flow_id, child_key)
  )`,

  `create table outbox (
    store int4 not null,
    seq int8 not null,
    flow_name text not null,
    parent_store_key text not null,
    flow_id text not null,
    child_key text not null,
    outcome int2 not null,
    failed_reason text,
    exit json,
    primary key (store, seq)
  )`
]
