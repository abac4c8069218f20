/** What must hold in the file whatever happened, looked at by SQL that the driver does not use. */
import type { DatabaseSync } from "node:sqlite"

const numbers = (db: DatabaseSync, sql: string): ReadonlyArray<ReadonlyArray<unknown>> =>
  db
    .prepare(sql)
    .all()
    .map((row) => Object.values(row))

const tallied = ["waiting", "delayed", "active", "waiting_children", "completed", "failed", "cancelled"]

/** The rules that are broken, by name; none when all is well. */
export const brokenRules = (db: DatabaseSync): ReadonlyArray<string> => {
  const rules: ReadonlyArray<readonly [rule: string, sql: string]> = [
    ["the file is sound", "select * from pragma_integrity_check where integrity_check <> 'ok'"],
    ...tallied.map(
      (column, code) =>
        [
          `the tally of ${column} is what a scan counts`,
          `select * from lane l where ${column} <>
             (select count(*) from status s where s.store = l.store and s.lane = l.lane and s.state = ${code})`
        ] as const
    ),
    [
      "every job has its lane",
      "select key from status s where not exists (select 1 from lane l where l.store = s.store and l.lane = s.lane)"
    ],
    [
      "the times of a job lie between those of its lane",
      `select key from status s join lane l on l.store = s.store and l.lane = s.lane
       where min(s.enqueued_at, s.run_at, coalesce(s.finished_at, s.run_at)) < l.earliest
          or max(s.enqueued_at, s.run_at, coalesce(s.finished_at, s.run_at)) > l.latest`
    ],
    ["no lane is empty", `select * from lane where ${tallied.join(" + ")} = 0`],
    ["every status has its job", "select key from status where key not in (select key from job)"],
    ["every job has its status", "select key from job where key not in (select key from status)"],
    ["a token is held exactly while active", "select key from status where (state = 2) <> (token is not null)"],
    ["a lease is there exactly while active", "select key from status where (state = 2) <> (lock_until is not null)"],
    ["finished jobs say when", "select key from status where (state >= 4) <> (finished_at is not null)"],
    [
      "the ledger has as many entries as the job says",
      `select key from status s where ledger_length <>
         (select count(*) from attempt a where a.store = s.store and (a.store << 42 | a.seq) = s.key)`
    ],
    [
      "no entry is without its job",
      "select seq from attempt a where not exists (select 1 from status s where s.key = (a.store << 42 | a.seq))"
    ],
    [
      "numbers are below the next one",
      "select key from status s join store t on t.store = s.store where max(s.place, s.key & 4398046511103) >= t.next_number"
    ]
  ]
  return rules.filter(([, sql]) => numbers(db, sql).length > 0).map(([rule]) => rule)
}
