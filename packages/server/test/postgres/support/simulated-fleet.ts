/**
 * A database, servers and workers as simple as can be, around the fleets that are under test: transactions that begin and end in any
 * order, messages that travel as slowly as one likes and may be lost, workers that claim, wait, and turn to another server each time.
 */
import { Effect, type Fiber } from "effect"
import { Fleet } from "../../../src/drivers/postgres/wake/Fleet.ts"
import * as Message from "../../../src/drivers/postgres/wake/Message.ts"
import * as Snapshot from "../../../src/drivers/postgres/wake/Snapshot.ts"

export const queue = "queue"
export const names = ["a", "b"] as const

/** A transaction that puts jobs in, so many of each name; without a job of any name it resumes the queue, and all may look. */
interface Transaction {
  readonly number: number
  readonly server: number
  readonly jobs: Readonly<Record<string, number>>
  readonly ofAll: boolean
}

/** Transactions, and jobs that can be claimed, by name. */
export class Database {
  readonly open = new Map<number, Transaction>()
  readonly claimable: Record<string, number> = {}
  #next = 100
  #latest = 99

  begin(server: number, jobs: Readonly<Record<string, number>>, ofAll = false): void {
    const number = this.#next++
    this.open.set(number, { number, server, jobs, ofAll })
  }

  end(number: number): void {
    const transaction = this.open.get(number)
    if (transaction === undefined) return
    this.open.delete(number)
    this.#latest = Math.max(this.#latest, number)
    for (const [name, count] of Object.entries(transaction.jobs)) {
      this.claimable[name] = (this.claimable[name] ?? 0) + count
    }
  }

  snapshot(): string {
    const open = Array.from(this.open.keys()).filter((number) => number <= this.#latest)
    return `${Math.min(this.#latest + 1, ...open)}:${this.#latest + 1}:${open.toSorted((a, b) => a - b).join()}`
  }

  take(wanted: ReadonlyArray<string>): boolean {
    const name = wanted.find((name) => (this.claimable[name] ?? 0) > 0)
    if (name === undefined) return false
    this.claimable[name] = (this.claimable[name] ?? 0) - 1
    return true
  }
}

/** A worker: it has the token of its last claim until it has waited with it, at one server or, called off there, at another. */
export interface Worker {
  readonly names: ReadonlyArray<string>
  token: string | undefined
  wait: Fiber.Fiber<void> | undefined
  server: number
  claims: number
  /** It was woken, and has not claimed since. */
  isWoken: boolean
  hasRetired: boolean
}

/** A server: its fleet, whether it hears, and what is on its way to it. */
interface Server {
  fleet: Fleet
  id: string
  hears: boolean
  readonly inbox: Array<string>
  /** Commits that it has not told of. */
  readonly untold: Array<Transaction>
}

/** See the file. `random` decides on whom a fleet calls. */
export class World {
  readonly database = new Database()
  readonly servers: Array<Server> = []
  readonly workers: Array<Worker> = []
  /** Whether something happened that only a look at the database makes good. */
  hasLost = false
  now = 0
  readonly #random: () => number
  #born = 0

  constructor(servers: number, workers: ReadonlyArray<ReadonlyArray<string>>, random: () => number) {
    this.#random = random
    for (let index = 0; index < servers; index++) {
      this.servers.push({ ...this.#newServer(), hears: true, inbox: [], untold: [] })
    }
    for (const names of workers) {
      this.workers.push({
        names,
        token: undefined,
        wait: undefined,
        server: 0,
        claims: 0,
        isWoken: false,
        hasRetired: false
      })
    }
  }

  server(index: number): Server {
    const server = this.servers[index % this.servers.length]
    if (server === undefined) throw new Error("there is no server")
    return server
  }

  /** A server whose process ends and is started anew: what it had not told, nobody hears, and its waits end. */
  restart(index: number): void {
    const server = this.server(index)
    if (server.untold.length > 0) this.hasLost = true
    server.untold.length = 0
    this.#loseAll(server)
    server.hears = true
    for (const worker of this.workers) {
      if (worker.server === index % this.servers.length) this.callOff(worker)
    }
    Object.assign(server, this.#newServer())
  }

  /** The connection by which a server hears is lost: what is on its way is, too. */
  deafen(index: number): void {
    const server = this.server(index)
    server.hears = false
    this.#loseAll(server)
  }

  /** It hears again, and looks for itself. */
  reconnect(index: number): void {
    const server = this.server(index)
    if (server.hears) return
    server.hears = true
    this.#connect(server.fleet)
    this.look(index)
  }

  /** Ends a transaction, whose server tells of it later. */
  commit(choice: number): void {
    const open = Array.from(this.database.open.values())
    const transaction = open[choice % Math.max(1, open.length)]
    if (transaction === undefined) return
    this.database.end(transaction.number)
    this.server(transaction.server).untold.push(transaction)
  }

  /** Lets a server tell of the first of its commits. */
  tell(index: number): boolean {
    const server = this.server(index)
    const transaction = server.untold.shift()
    if (transaction === undefined) return false
    const jobs = Object.entries(transaction.jobs).map(([name, count]) => ({ queue, name, count }))
    const all = { queue, name: undefined, count: Infinity }
    server.fleet.committed(1, transaction.ofAll ? [...jobs, all] : jobs, `${transaction.number}`)
    return true
  }

  /** Sends what a server has gathered; PostgreSQL gives it to all who listen, the sender too. */
  send(index: number): boolean {
    const { fleet } = this.server(index)
    fleet.tellPresence()
    const payloads = fleet.take()
    for (const server of this.servers) {
      server.inbox.push(...payloads)
      if (!server.hears) this.#loseAll(server)
    }
    return payloads.length > 0
  }

  /** Gives a server one of the messages on their way to it. */
  deliver(index: number, choice: number): boolean {
    const { fleet, inbox } = this.server(index)
    const [message] = inbox.splice(choice % Math.max(1, inbox.length), 1)
    if (message === undefined) return false
    fleet.heard(message)
    return true
  }

  /** A server learns how far the database has come. */
  settleEvents(index: number): void {
    this.server(index).fleet.settle(this.#snapshot())
  }

  lose(index: number): void {
    if (this.server(index).inbox.shift() !== undefined) this.hasLost = true
  }

  /** The slow look of one server. */
  look(index: number): void {
    const { fleet } = this.server(index)
    for (const { key, waiters } of Array.from(fleet.wanted())) {
      const names = key.name === undefined ? Object.keys(this.database.claimable) : [key.name]
      const jobs = names.reduce((sum, name) => sum + (this.database.claimable[name] ?? 0), 0)
      if (jobs > 0) fleet.found(key, Math.min(jobs, waiters))
    }
  }

  /** A worker that does not wait claims, at any server; one with a token begins to wait, at any server. */
  work(index: number, server: number): boolean {
    const worker = this.workers[index % this.workers.length]
    if (worker === undefined || worker.hasRetired || this.isParked(worker)) return false
    const { fleet } = this.server(server)
    if (worker.token === undefined) {
      worker.claims++
      worker.isWoken = false
      const snapshot = this.database.snapshot()
      if (!this.database.take(worker.names)) worker.token = fleet.token(snapshot, queue, worker.names)
      return true
    }
    worker.server = server % this.servers.length
    worker.wait = Effect.runFork(fleet.awaitWake(1, [queue], worker.token))
    this.isParked(worker)
    return true
  }

  /** A worker's wait is called off; it has not been woken. */
  callOff(worker: Worker): void {
    if (!this.isParked(worker)) return
    worker.wait?.interruptUnsafe()
    worker.wait = undefined
  }

  /** A worker does nothing ever after. If it was woken and has not claimed since, that wake goes with it. */
  retire(worker: Worker): void {
    this.callOff(worker)
    if (worker.isWoken) this.hasLost = true
    worker.hasRetired = true
  }

  /** Whether it waits. A wait that has ended has used up its token. */
  isParked(worker: Worker): boolean {
    if (worker.wait?.pollUnsafe() === undefined) return worker.wait !== undefined
    worker.wait = undefined
    worker.token = undefined
    worker.isWoken = true
    return false
  }

  /** Everything that is under way comes to its end. Answers the number of steps; more than `most` fail. */
  settle(most: number): number {
    let steps = 0
    while (this.#step()) if (++steps > most) throw new Error(`after ${most} steps there is no rest`)
    return steps
  }

  /** Whether somebody is parked for a job that could be claimed. */
  get isStuck(): boolean {
    return this.workers.some(
      (worker) => this.isParked(worker) && worker.names.some((name) => (this.database.claimable[name] ?? 0) > 0)
    )
  }

  #step(): boolean {
    if (this.database.open.size > 0) {
      this.commit(0)
      return true
    }
    for (const index of this.servers.keys()) {
      if (this.tell(index) || this.send(index) || this.deliver(index, 0)) return true
    }
    for (const index of this.workers.keys()) if (this.work(index, index)) return true
    return false
  }

  /** Messages do not arrive. Those that call this server call nobody, and nobody passes that on. */
  #loseAll({ id, inbox }: Server): void {
    const messages = inbox.splice(0).map((payload) => Message.read(payload))
    const calls = messages.flatMap((message) => message?.events ?? []).flatMap(({ calls }) => calls)
    if (calls.some(([peer]) => peer === id)) this.hasLost = true
  }

  #newServer(): { readonly id: string; readonly fleet: Fleet } {
    const id = `server-${this.#born++}`
    const fleet = new Fleet({
      id,
      silentForMs: 1_000,
      manyEvents: 4,
      random: this.#random,
      now: () => this.now,
      onOutgoing: () => {},
      onPresence: () => {}
    })
    this.#connect(fleet)
    return { id, fleet }
  }

  #connect(fleet: Fleet): void {
    fleet.connected("origin", this.#snapshot())
  }

  #snapshot(): Snapshot.Snapshot {
    const snapshot = Snapshot.parse(this.database.snapshot())
    if (snapshot === undefined) throw new Error("the database gave no snapshot")
    return snapshot
  }
}
