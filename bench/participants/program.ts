/** A process that takes part in a measurement: as a producer, as a worker or, for stores that know no other process, as both. */
import { monotonicMs, stamped } from "../contenders/payload.ts"
import type { Adapter, Payload, Place, Store, Working } from "../contenders/Store.ts"
import { useDependenciesOf } from "./dependencies.ts"
import * as load from "./load.ts"
import type { Assignment, Commands, Count, Report, Request } from "./Messages.ts"
import { produce, type Production } from "./production.ts"

// How often a worker says how many jobs are finished.
const reportMs = 20

// How long filling may take, in seconds.
const fillSeconds = 180

let assigned: { readonly adapter: Adapter; readonly assignment: Assignment } | undefined
let connected: Store | undefined
let working: { readonly worker: Working; readonly reporting: NodeJS.Timeout } | undefined
let production: Production | undefined

const tell = (report: Report): void => {
  process.send?.(report)
}

const given = <A>(value: A | undefined, what: string): A => {
  if (value === undefined) throw new Error(`the process has no ${what} yet`)
  return value
}

const adapter = () => given(assigned, "adapter").adapter
const target = () => given(assigned, "adapter").assignment.target
const store = () => given(connected, "store")

const assign = async (assignment: Assignment): Promise<null> => {
  if (assignment.dependencies !== undefined) useDependenciesOf(assignment.dependencies)
  // Every adapter is its module's default export.
  const module = (await import(assignment.module)) as { readonly default: Adapter }
  assigned = { adapter: module.default, assignment }
  return null
}

const work = async (places: ReadonlyArray<Place>): Promise<null> => {
  let count = 0
  const handle = ({ sentAt }: Payload) => {
    count += 1
    if (sentAt !== undefined) tell({ _tag: "Woken", latencyMs: monotonicMs() - sentAt })
  }
  const worker = await store().work(places, handle)
  const reporting = setInterval(() => tell({ _tag: "Finished", count, atMs: monotonicMs() }), reportMs)
  working = { worker, reporting }
  return null
}

const stopWork = async (): Promise<null> => {
  const { reporting, worker } = given(working, "worker")
  clearInterval(reporting)
  working = undefined
  await worker.stop()
  return null
}

const all = async (wanted: number, done: Promise<Count>): Promise<void> => {
  const { count } = await done
  if (count < wanted)
    throw new Error(`only ${count} of ${wanted} jobs could be filled in or worked off in ${fillSeconds} s`)
}

const fillWaiting = async ({ count, place }: Commands["fillWaiting"]["args"]): Promise<null> => {
  const { fillWaiting } = store()
  if (fillWaiting === undefined) await all(count, load.bulk(store(), adapter().bulk, [place], count, fillSeconds))
  else await fillWaiting(place, count)
  return null
}

const fillFinished = async ({ count, place }: Commands["fillFinished"]["args"]): Promise<null> => {
  const { fillFinished } = store()
  if (fillFinished === undefined) {
    await all(count, load.bulk(store(), adapter().bulk, [place], count, fillSeconds))
    await all(count, load.drain(store(), [place], count, fillSeconds))
  } else await fillFinished(place, count)
  return null
}

const nothing = async (done: Promise<unknown>): Promise<null> => {
  await done
  return null
}

type Handlers = {
  readonly [Name in keyof Commands]: (args: Commands[Name]["args"]) => Promise<Commands[Name]["answer"]>
}

const handlers: Handlers = {
  assign,
  prepare: (places) => nothing(adapter().prepare(target(), places)),
  connect: async () => {
    connected = await adapter().connect(target())
    return null
  },
  enqueue: ({ callers, place, seconds }) => load.enqueue(store(), place, callers, seconds),
  bulk: ({ count, places, seconds }) => load.bulk(store(), adapter().bulk, places, count, seconds),
  drain: ({ count, places, seconds }) => load.drain(store(), places, count, seconds),
  work,
  stopWork,
  produce: async ({ ahead, callers, place }) => {
    production = produce(store(), place, callers, ahead)
    return null
  },
  progress: async (finished) => {
    production?.progress(finished)
    return null
  },
  stopProduce: () => given(production, "producer").stop(),
  sendMarked: (place) => nothing(store().enqueue({ ...place, payload: stamped() })),
  fillWaiting,
  fillFinished,
  unfinished: () => store().unfinished(),
  close: () => nothing(store().close())
}

process.on("message", ({ args, command, id }: Request) => {
  // The command and its arguments belong together: the other side is typed by the same table.
  const handler = handlers[command] as (args: unknown) => Promise<unknown>
  handler(args).then(
    (answer) => tell({ _tag: "Answer", id, answer }),
    (error: unknown) => {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
      tell({ _tag: "Failure", id, message })
    }
  )
})
process.on("disconnect", () => process.exit(0))
