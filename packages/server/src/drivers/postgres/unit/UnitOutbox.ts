/** Reports that wait for delivery, as units see them. */
import type { OutboxDraft, OutboxRow } from "../../../core/JobRow.ts"
import { states, terminalStates } from "../../columns/Codes.ts"
import { inChunks } from "../../embedded/Chunks.ts"
import type { OutboxTable } from "../../embedded/Tables.ts"
import * as Columns from "../Columns.ts"
import type { Row } from "../Connections.ts"
import type { Asked } from "./Asked.ts"
import { found } from "./Fences.ts"
import { type Part, type Write, writing } from "./Load.ts"
import type { Numbers } from "./Numbers.ts"
import type { Run } from "./Run.ts"

const seqFields: ReadonlyArray<Columns.Column<number>> = [{ name: "seq", type: "int8", of: (seq) => seq }]

const fields: ReadonlyArray<Columns.Column<OutboxRow>> = [
  { name: "seq", type: "int8", of: (row) => row.seq },
  { name: "flow_name", type: "text", of: (row) => row.flowName },
  { name: "parent_store_key", type: "text", of: (row) => row.parentStoreKey },
  { name: "flow_id", type: "text", of: ({ report }) => report.flowId },
  { name: "child_key", type: "text", of: ({ report }) => report.childKey },
  { name: "outcome", type: "int2", of: ({ report }) => states.code(report.outcome) },
  { name: "failed_reason", type: "text", of: ({ report }) => report.failedReason },
  { name: "exit", type: "json", of: ({ report }) => report.exit }
]

const chunk = `
  select seq::float8, flow_name, parent_store_key, flow_id, child_key, outcome, failed_reason, exit::text
  from outbox where store = $1 and seq > $2::float8::int8 order by seq limit $3::int4`

const insert = (first: number): string => `
  insert into outbox (store, ${Columns.names(fields)})
  select $1, ${Columns.values(fields, "r")} from ${Columns.rows(fields, "r", first)}`

const remove = (first: number): string => `
  delete from outbox t using ${Columns.rows(seqFields, "r", first)} ${found("outbox", "seq = r.seq::int8")}
  where t.ctid = f.at`

type OutboxTuple = readonly [
  seq: number,
  flowName: string,
  parentStoreKey: string,
  flowId: string,
  childKey: string,
  outcome: number,
  failedReason: string | null,
  exit: string | null
]

const outcomeOf = (code: number): OutboxRow["report"]["outcome"] => {
  const word = states.word(code)
  const outcome = terminalStates.find((state) => state === word)
  if (outcome === undefined) throw new Error(`the database has a report that says its job is ${word}`)
  return outcome
}

const decode = (row: Row): OutboxRow => {
  // What the columns are is said by the SQL above.
  const [seq, flowName, parentStoreKey, flowId, childKey, outcome, failedReason, exit] = row as unknown as OutboxTuple
  return {
    seq,
    flowName,
    parentStoreKey,
    report: {
      flowId,
      childKey,
      outcome: outcomeOf(outcome),
      failedReason: failedReason ?? undefined,
      exit: exit ?? undefined
    }
  }
}

/** See `OutboxTable`. */
export class UnitOutbox implements OutboxTable, Part {
  readonly #run: Run
  readonly #numbers: Numbers
  readonly #asked: Asked
  readonly #appended = new Map<number, OutboxRow>()
  readonly #deleted = new Set<number>()

  constructor(run: Run, numbers: Numbers, asked: Asked) {
    this.#run = run
    this.#numbers = numbers
    this.#asked = asked
  }

  append(draft: OutboxDraft): void {
    const seq = this.#numbers.next()
    this.#appended.set(seq, { ...draft, seq })
    this.#run.changed(() => this.#appended.delete(seq))
  }

  *list(afterSeq: number): Generator<OutboxRow, void> {
    const rows = inChunks<Row>((last, limit) => this.#asked.rows(chunk, [last?.[0] ?? afterSeq, limit]))
    for (const row of rows) yield decode(row)
  }

  delete(seqs: ReadonlyArray<number>): void {
    for (const seq of seqs) {
      if (this.#deleted.has(seq)) continue
      this.#deleted.add(seq)
      this.#run.changed(() => this.#deleted.delete(seq))
    }
  }

  loads(): ReadonlyArray<never> {
    return []
  }

  writes(): ReadonlyArray<Write> {
    // What is appended here was seen by nobody, so nobody deletes it here.
    return [
      ...writing(insert, fields, Array.from(this.#appended.values())),
      ...writing(remove, seqFields, Array.from(this.#deleted))
    ]
  }
}
