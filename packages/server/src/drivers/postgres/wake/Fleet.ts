/**
 * One server among those of a database: whom it wakes itself, what it tells the others, and what it makes of what they tell. It has no
 * clock, connection or fiber: what comes in is a call, and what is to go out is gathered until somebody takes it.
 *
 * One job wakes one waiter of the whole fleet, or close to it: one of this server if there is one, else one of a server that is known
 * to have some, else one of every server. A server that is called and has nobody any more passes the call on to all. Everybody is told
 * of every event, as a token that comes later may be held against it.
 */
import { Effect } from "effect"
import { Parking } from "../../wake/Parking.ts"
import type { Call } from "../../wake/Waiter.ts"
import type { WakeEvent } from "../../wake/Wakes.ts"
import * as WakeToken from "../../wake/WakeToken.ts"
import type { LaneKey } from "./LaneKey.ts"
import * as Message from "./Message.ts"
import { Outgoing } from "./Outgoing.ts"
import { Peers } from "./Peers.ts"
import { type Count, Presence } from "./Presence.ts"
import { RecentEvents } from "./RecentEvents.ts"
import * as Snapshot from "./Snapshot.ts"

/** What a fleet needs of the world. */
export interface Surroundings {
  /** The name of this server, which no other has. */
  readonly id: string
  /** Whoever says nothing for so many milliseconds has gone; who is there beats more often than that. */
  readonly silentForMs: number
  /** So many events are remembered before those that everybody sees by now are forgotten. */
  readonly manyEvents: number
  /** Draws from 0 to below 1. */
  readonly random: () => number
  /** Milliseconds of the machine. */
  readonly now: () => number
  /** Something is to go out. */
  readonly onOutgoing: () => void
  /** Waiters have come or gone; {@link Fleet.tellPresence} says what the others should know of it. */
  readonly onPresence: () => void
}

/** What the claim of a waiter had seen, and in which life of the database: numbers of one mean nothing in another. */
interface Seen {
  readonly origin: string
  readonly snapshot: Snapshot.Snapshot
}

// A server that was silent for so long needs to be told of no waiters until it says something.
const aloneAfterMs = 600_000

// What a server says comes back to it at once, unless the database is very busy.
const echoMs = 3000

/** See the file. */
export class Fleet {
  readonly #around: Surroundings
  readonly #parkings = new Map<number, Parking<Seen>>()
  readonly #events = new RecentEvents()
  readonly #peers = new Peers()
  readonly #presence = new Presence((key) => this.#parkings.get(key.store)?.size(key.queue, key.name) ?? 0)
  readonly #outgoing: Outgoing
  #origin = ""
  #beats = 0
  /** When it first said that it is there, of the times that have not come back to it. */
  #unheardSince: number | undefined = undefined

  constructor(around: Surroundings) {
    this.#around = around
    this.#outgoing = new Outgoing(around.id)
  }

  /** How many waits are parked. */
  get parked(): number {
    let parked = 0
    for (const parking of this.#parkings.values()) parked += parking.parked
    return parked
  }

  /** Whether no other server was heard of lately. */
  get isAlone(): boolean {
    return this.#peers.lastHeardAt < this.#around.now() - aloneAfterMs
  }

  /** Whether so many events are remembered that it should be given a new snapshot, by {@link settle}. */
  get isFull(): boolean {
    return this.#events.size > this.#around.manyEvents
  }

  /** Whether what it said of itself does not come back to it: then it hears nothing. */
  get isDeaf(): boolean {
    return this.#unheardSince !== undefined && this.#around.now() - this.#unheardSince > echoMs
  }

  /** The token of a claim for these names that found nothing in this snapshot, PostgreSQL's `pg_current_snapshot()` as text. */
  token(text: string, queue: string, names: ReadonlyArray<string>): string {
    const snapshot = Snapshot.parse(text)
    if (snapshot === undefined) throw new Error(`${JSON.stringify(text)} is no snapshot of PostgreSQL`)
    if (this.isFull) this.settle(snapshot)
    return WakeToken.format(this.#origin, Snapshot.format(snapshot, WakeToken.longestPosition), queue, names)
  }

  /** Resolves when one of the queues may have got work that the token's claim did not see. */
  awaitWake(store: number, queues: ReadonlyArray<string>, token: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const seen = WakeToken.parse(token)
      if (seen?.origin !== this.#origin) return Effect.void
      const snapshot = Snapshot.read(seen.position)
      if (snapshot === undefined) return Effect.void
      const wanted = WakeToken.wantedOf(seen, queues)
      return this.#events.hasNews(store, wanted, snapshot)
        ? Effect.void
        : this.#parking(store).park(wanted, { origin: seen.origin, snapshot })
    })
  }

  /**
   * This server has committed these events, in a transaction of this number. Without one, tokens that are on their way are not held
   * against it.
   */
  committed(store: number, events: ReadonlyArray<WakeEvent>, transaction: string | undefined): void {
    const transactions = transaction === undefined ? [] : [Number(transaction)]
    for (const { count, name, queue } of events) {
      const key: LaneKey = { store, queue, name }
      const called = name === undefined ? 0 : count
      const chosen = this.#happened(key, transactions, called)
      this.#tell(key, transactions, called - chosen)
    }
    this.#parkings.get(store)?.resume()
  }

  /** Takes in what some server, perhaps this one, has told. */
  heard(payload: string): void {
    const message = Message.read(payload)
    if (message === undefined) return
    const { events, from, sign, waiting } = message
    if (from === this.#around.id) {
      if (sign === this.#beats) this.#unheardSince = undefined
      return
    }
    this.#meet(from, sign)
    for (const { store, queue, name, waiters } of waiting) {
      this.#peers.told(from, { store, queue, name: name ?? undefined }, waiters)
    }
    for (const event of events) this.#answer(event)
  }

  /** Says that jobs which nobody has taken were found: so many waiters go and look. */
  found(key: LaneKey, jobs: number): void {
    const parking = this.#parkings.get(key.store)
    if (key.name === undefined) parking?.chooseOfAnyName(key.queue)
    else parking?.choose({ queue: key.queue, name: key.name, isNews: () => true }, jobs)
    parking?.resume()
  }

  /**
   * It hears the others from now on, and what it did not hear is visible in the snapshot. The origin names the database and its life:
   * numbers of transactions mean nothing to another.
   */
  connected(origin: string, snapshot: Snapshot.Snapshot): void {
    if (origin === this.#origin) this.#events.settle(snapshot)
    else this.#events.begin(snapshot)
    this.#origin = origin
    this.#unheardSince = undefined
    this.#peers.forgetAll()
    this.#retell()
    this.#outgoing.sign("hello")
    this.#around.onOutgoing()
  }

  /** Takes a later snapshot as its floor if that lets it forget enough. */
  settle(snapshot: Snapshot.Snapshot): void {
    if (this.#events.size > this.#around.manyEvents / 2) this.#events.settle(snapshot)
  }

  /** What is waited for here, and by how many. */
  *wanted(): Iterable<Count> {
    for (const [store, parking] of this.#parkings) {
      for (const { name, queue, waiters } of parking.wanted()) yield { key: { store, queue, name }, waiters }
    }
  }

  /** Gathers what the others should know of who waits here, if there are others. */
  tellPresence(): void {
    if (this.isAlone) return this.#presence.skip()
    for (const { key, waiters } of this.#presence.changes()) this.#outgoing.waiting(key, waiters)
    this.#around.onOutgoing()
  }

  /** A message that says that this server is there, and that it should hear itself. */
  beat(): ReadonlyArray<string> {
    this.#unheardSince ??= this.#around.now()
    return Message.write({ from: this.#around.id, sign: ++this.#beats, events: [], waiting: [] })
  }

  /** The last beat was not sent. */
  skipBeat(): void {
    this.#unheardSince = undefined
  }

  /** The messages that were gathered, which then count as told. */
  take(): ReadonlyArray<string> {
    return this.#outgoing.take()
  }

  /** The last message. */
  farewell(): ReadonlyArray<string> {
    this.#outgoing.sign("bye")
    return this.take()
  }

  /** Remembers an event and chooses up to so many waiters for it, or all of the queue when it concerns all; answers how many. */
  #happened(key: LaneKey, transactions: ReadonlyArray<number>, called: number): number {
    const { name, queue, store } = key
    for (const transaction of transactions) this.#events.record(store, queue, name, transaction)
    const parking = this.#parkings.get(store)
    if (parking === undefined) return 0
    if (name !== undefined) return parking.choose(this.#callOf(key, name, transactions), called)
    parking.chooseAll(queue, this.#isNews(transactions))
    return 0
  }

  #isNews(transactions: ReadonlyArray<number>): (seen: Seen) => boolean {
    return ({ origin, snapshot }) =>
      transactions.length === 0 ||
      origin !== this.#origin ||
      transactions.some((transaction) => !Snapshot.sees(snapshot, transaction))
  }

  #callOf(key: LaneKey, name: string, transactions: ReadonlyArray<number>): Call<Seen> {
    return {
      queue: key.queue,
      name,
      isNews: this.#isNews(transactions),
      unanswered: () => this.#tell(key, transactions, 1)
    }
  }

  /** Tells the others of an event, with waiters to be woken for so many jobs. */
  #tell(key: LaneKey, transactions: ReadonlyArray<number>, jobs: number): void {
    this.#peers.forgetSilent(this.#around.now() - this.#around.silentForMs)
    const shares = jobs === 0 ? [] : this.#peers.share(key, jobs, this.#around.random)
    const shared = shares.reduce((sum, { waiters }) => sum + waiters, 0)
    this.#outgoing.event(key, transactions, shares, jobs - shared)
    this.#around.onOutgoing()
  }

  /** Does what another server's event asks of this one. */
  #answer({ calls, name, queue, rest, store, transactions }: Message.Event): void {
    const key: LaneKey = { store, queue, name: name ?? undefined }
    const called = calls.find(([peer]) => peer === this.#around.id)?.[1] ?? 0
    const chosen = this.#happened(key, transactions, called + rest)
    if (called > 0) {
      this.#presence.called(key)
      this.#around.onPresence()
      if (chosen < called) {
        this.#outgoing.event(key, transactions, [], called - chosen)
        this.#around.onOutgoing()
      }
    }
    this.#parkings.get(store)?.resume()
  }

  #meet(peer: string, sign: Message.Sign | undefined): void {
    const wasAlone = this.isAlone
    const isNew = this.#peers.heard(peer, this.#around.now())
    if (sign === "bye") this.#peers.forget(peer)
    else if (sign === "hello") this.#peers.forgetWaiters(peer)
    else if (isNew && sign !== undefined) {
      // It has waiters, and has told of them when nobody here listened.
      this.#outgoing.sign("hello")
      this.#around.onOutgoing()
    }
    if (sign === "hello" || wasAlone) this.#retell()
  }

  #retell(): void {
    this.#presence.retell(Array.from(this.wanted(), ({ key }) => key))
    this.#around.onPresence()
  }

  #parking(store: number): Parking<Seen> {
    let parking = this.#parkings.get(store)
    if (parking === undefined) {
      parking = new Parking((queue, name) => {
        this.#presence.changed({ store, queue, name })
        this.#around.onPresence()
      })
      this.#parkings.set(store, parking)
    }
    return parking
  }
}
