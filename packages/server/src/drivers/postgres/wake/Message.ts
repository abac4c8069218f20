/**
 * What servers tell each other through PostgreSQL's notifications, as JSON. A message that a server does not understand tells it
 * nothing; what it should have learned from it, its next look at the database says.
 */
import { Json } from "@jobwire/protocol"
import { Option, Schema } from "effect"

const Key = { store: Schema.Int, queue: Schema.String, name: Schema.NullOr(Schema.String) }

/** Jobs became claimable: in which transactions, which server is to wake how many waiters, and how many each of the others is to. */
const Event = Schema.Struct({
  ...Key,
  transactions: Schema.Array(Schema.Int),
  calls: Schema.Array(Schema.Tuple([Schema.String, Schema.Int])),
  rest: Schema.Int
})

/** So many wait at the sender. */
const Waiting = Schema.Struct({ ...Key, waiters: Schema.Int })

/** `hello`: who is there? `bye`: I go. A number: I am there, said for the so-manieth time. */
const Sign = Schema.Union([Schema.Literals(["hello", "bye"]), Schema.Int])

const MessageSchema = Schema.Struct({
  from: Schema.String,
  sign: Schema.optionalKey(Sign),
  events: Schema.Array(Event),
  waiting: Schema.Array(Waiting)
})

export type Event = typeof Event.Type
export type Waiting = typeof Waiting.Type
export type Sign = typeof Sign.Type
export type Message = typeof MessageSchema.Type

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(MessageSchema))

/** Reads a message, or gives `undefined` when it is none that this version knows. */
export const read = (payload: string): Message | undefined => Option.getOrUndefined(decode(payload))

// PostgreSQL takes less than 8000 bytes.
const mostBytes = 7800

// Their numbers have up to 17 digits and a comma.
const mostTransactions = 200

/** What is told, as payloads that PostgreSQL takes. */
export const write = (message: Message): ReadonlyArray<string> => {
  const writer = new Writer(message.from)
  if (message.sign !== undefined) writer.sign(message.sign)
  for (const event of message.events) for (const part of parts(event)) writer.add("events", JSON.stringify(part))
  for (const waiting of message.waiting) writer.add("waiting", JSON.stringify(waiting))
  return writer.payloads()
}

// Calls and transactions are told once each; the calls go with the last transactions, which are the latest news.
const parts = (event: Event): ReadonlyArray<Event> => {
  const { transactions } = event
  if (transactions.length <= mostTransactions) return [event]
  const told = { ...event, transactions: transactions.slice(0, mostTransactions), calls: [], rest: 0 }
  return [told, ...parts({ ...event, transactions: transactions.slice(mostTransactions) })]
}

/** Fills one payload after another. */
class Writer {
  readonly #from: string
  readonly #written: Array<string> = []
  readonly #items = { events: new Array<string>(), waiting: new Array<string>() }
  #sign: Sign | undefined = undefined
  #bytes = 0

  constructor(from: string) {
    this.#from = from
    this.#bytes = this.#frame()
  }

  sign(sign: Sign): void {
    this.#sign = sign
    this.#bytes = this.#frame()
  }

  /** What is too big for a payload of its own is left to the look at the database: it takes names beyond any documented limit. */
  add(kind: "events" | "waiting", item: string): void {
    const bytes = Json.utf8Length(item) + 1
    if (this.#frame() + bytes > mostBytes) return
    if (this.#bytes + bytes > mostBytes) this.#close()
    this.#items[kind].push(item)
    this.#bytes += bytes
  }

  payloads(): ReadonlyArray<string> {
    if (this.#sign !== undefined || this.#items.events.length + this.#items.waiting.length > 0) this.#close()
    return this.#written
  }

  #close(): void {
    const sign = this.#sign === undefined ? "" : `"sign":${JSON.stringify(this.#sign)},`
    const { events, waiting } = this.#items
    this.#written.push(
      `{"from":${JSON.stringify(this.#from)},${sign}"events":[${events.join()}],"waiting":[${waiting.join()}]}`
    )
    this.#sign = undefined
    this.#items.events.length = 0
    this.#items.waiting.length = 0
    this.#bytes = this.#frame()
  }

  #frame(): number {
    return 80 + this.#from.length
  }
}
