/** Reports that wait for delivery. */
import type { DatabaseSync } from "node:sqlite"
import type { OutboxRow } from "../../core/JobRow.ts"
import type { OutboxTable } from "../embedded/Tables.ts"
import { inChunks } from "../embedded/Chunks.ts"
import { states, terminalStates } from "../columns/Codes.ts"
import { prepare } from "./Statement.ts"
import type { StoreState } from "./StoreState.ts"

type OutboxTuple = [
  seq: number,
  flowName: string,
  parentStoreKey: string,
  flowId: string,
  childKey: string,
  outcome: number,
  failedReason: string | null,
  exit: string | null
]

const columns = "seq, flow_name, parent_store_key, flow_id, child_key, outcome, failed_reason, exit"

/** The statement that reads reports; exported for the test that reads its plan. */
export const findOutbox = { chunk: `select ${columns} from outbox where store = ? and seq > ? order by seq limit ?` }

const outcomeOf = (code: number): OutboxRow["report"]["outcome"] => {
  const word = states.word(code)
  const outcome = terminalStates.find((state) => state === word)
  if (outcome === undefined) throw new Error(`the database has a report that says its job is ${word}`)
  return outcome
}

const decode = (tuple: OutboxTuple): OutboxRow => ({
  seq: tuple[0],
  flowName: tuple[1],
  parentStoreKey: tuple[2],
  report: {
    flowId: tuple[3],
    childKey: tuple[4],
    outcome: outcomeOf(tuple[5]),
    failedReason: tuple[6] ?? undefined,
    exit: tuple[7] ?? undefined
  }
})

/** Prepares the statements once; answers what makes the table of a store. */
export const prepareOutbox = (db: DatabaseSync): ((store: StoreState) => OutboxTable) => {
  const append = prepare(db, `insert into outbox (store, ${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const chunk = prepare<OutboxTuple>(db, findOutbox.chunk)
  const remove = prepare(db, "delete from outbox where store = ? and seq = ?")
  return (store) => ({
    append: ({ flowName, parentStoreKey, report }) => {
      append.run(
        store.id,
        store.next(),
        flowName,
        parentStoreKey,
        report.flowId,
        report.childKey,
        states.code(report.outcome),
        report.failedReason ?? null,
        report.exit ?? null
      )
    },
    list: function* (afterSeq) {
      for (const tuple of inChunks<OutboxTuple>((last, limit) => chunk.all(store.id, last?.[0] ?? afterSeq, limit))) {
        yield decode(tuple)
      }
    },
    delete: (seqs) => {
      for (const seq of seqs) remove.run(store.id, seq)
    }
  })
}
