/**
 * An effect-mq application with flows over two stores: a trunk in `parents` fans out into branches in `children`, and each
 * branch, itself a flow, into leaves in `parents` again. There is one that goes on when a child fails, and a strict one.
 */
import { Context, Effect, Layer, Queue, Schema } from "effect"
import { Flow, Job, JobStore, Worker } from "effect-mq"

export const Parents = JobStore.named("parents")
export const Children = JobStore.named("children")
export type Stores = JobStore.Named<"parents"> | JobStore.Named<"children">

/** What handlers tell the test, in the order of their telling. */
export class Told extends Context.Service<Told, Queue.Queue<string>>()("test/flow-app/Told") {}

/** What a leaf waits for before it fails; the workers take it from the context that they are built in. */
export const BeforeFailure = Context.Reference<Effect.Effect<void>>("test/flow-app/BeforeFailure", {
  defaultValue: () => Effect.void
})

/** What a leaf does: answers its number, fails, or hangs until somebody stops it. */
const LeafSpec = Schema.Struct({
  key: Schema.String,
  does: Schema.Literals(["answer", "fail", "hang"]),
  number: Schema.Finite
})
export type LeafSpec = typeof LeafSpec.Type

const BranchSpec = Schema.Struct({ key: Schema.String, leaves: Schema.Array(LeafSpec) })
export type BranchSpec = typeof BranchSpec.Type

/** A leaf that answers. */
export const answer = (key: string, number: number): LeafSpec => ({ key, does: "answer", number })
export const fail = (key: string): LeafSpec => ({ key, does: "fail", number: 0 })
export const hang = (key: string): LeafSpec => ({ key, does: "hang", number: 0 })

const Sum = Schema.Struct({ sum: Schema.Finite, completed: Schema.Finite, failed: Schema.Finite })

const leaf = { payload: LeafSpec.fields, success: Schema.Finite, error: Schema.String, store: Parents }
const branch = { payload: BranchSpec.fields, success: Sum, store: Children }
const trunk = { payload: { branches: Schema.Array(BranchSpec) }, success: Sum, store: Parents }

export class Leaf extends Job.make("Leaf", leaf) {}
export class Branch extends Job.make("Branch", branch) {}
export class Trunk extends Job.make("Trunk", trunk) {}
export const BranchFlow = Flow.make("branch", { parent: Branch, children: [Leaf] })
export const TrunkFlow = Flow.make("trunk", { parent: Trunk, children: [Branch] })

export class StrictLeaf extends Job.make("StrictLeaf", leaf) {}
export class StrictBranch extends Job.make("StrictBranch", branch) {}
export class StrictTrunk extends Job.make("StrictTrunk", trunk) {}
export const StrictBranchFlow = Flow.make("strict-branch", {
  parent: StrictBranch,
  children: [StrictLeaf],
  onChildFailure: "fail"
})
export const StrictTrunkFlow = Flow.make("strict-trunk", {
  parent: StrictTrunk,
  children: [StrictBranch],
  onChildFailure: "fail"
})

const tell = (what: string) => Effect.flatMap(Told, (told) => Queue.offer(told, what))

const runLeaf = ({ does, key, number }: LeafSpec): Effect.Effect<number, string, Told> =>
  tell(`${does} ${key}`).pipe(
    Effect.andThen(
      does === "answer"
        ? Effect.succeed(number)
        : does === "fail"
          ? Effect.flatMap(BeforeFailure, (before) => Effect.andThen(before, Effect.fail(`leaf ${key} fails`)))
          : Effect.never
    ),
    Effect.onInterrupt(() => tell(`interrupted ${key}`))
  )

const options = {
  lockDuration: "2 seconds",
  lockRenewInterval: "100 millis",
  stalledInterval: "500 millis",
  pollInterval: "1 second",
  flowSweepInterval: "200 millis"
} as const

const parentWorker = Worker.layer({ ...options, store: Parents, flows: [BranchFlow, StrictBranchFlow] })
const childWorker = Worker.layer({ ...options, store: Children, flows: [TrunkFlow, StrictTrunkFlow] })

const inParents = Layer.mergeAll(
  Leaf.toLayer(runLeaf, { concurrency: 8 }),
  StrictLeaf.toLayer(runLeaf),
  TrunkFlow.toLayer({
    fanOut: ({ branches }) =>
      Effect.succeed(
        Flow.children(
          Branch,
          branches.map((payload) => ({ key: payload.key, payload }))
        )
      ),
    collect: (_, results) =>
      Effect.map(results.all, ({ completed, failed }) => ({
        sum: completed.reduce((sum, child) => sum + child.value.sum, 0),
        completed: completed.length,
        failed: failed.length
      }))
  }),
  StrictTrunkFlow.toLayer({
    fanOut: ({ branches }) =>
      Effect.succeed(
        Flow.children(
          StrictBranch,
          branches.map((payload) => ({ key: payload.key, payload }))
        )
      ),
    collect: (_, results) =>
      Effect.succeed({ sum: 0, completed: results.counts.completed, failed: results.counts.failed })
  })
).pipe(Layer.provide(parentWorker))

const inChildren = Layer.mergeAll(
  BranchFlow.toLayer(
    {
      fanOut: ({ leaves }) =>
        Effect.succeed(
          Flow.children(
            Leaf,
            leaves.map((payload) => ({ key: payload.key, payload }))
          )
        ),
      collect: (_, results) =>
        Effect.map(results.all, ({ completed, failed }) => ({
          sum: completed.reduce((sum, child) => sum + child.value, 0),
          completed: completed.length,
          failed: failed.length
        }))
    },
    { concurrency: 4 }
  ),
  StrictBranchFlow.toLayer({
    fanOut: ({ leaves }) =>
      Effect.succeed(
        Flow.children(
          StrictLeaf,
          leaves.map((payload) => ({ key: payload.key, payload }))
        )
      ),
    collect: (_, results) =>
      Effect.succeed({ sum: 0, completed: results.counts.completed, failed: results.counts.failed })
  })
).pipe(Layer.provide(childWorker))

/** The workers of both stores. They stop, and give their jobs back, when the layer's scope closes. */
export const workers: Layer.Layer<never, never, Stores | Told> = Layer.mergeAll(inParents, inChildren)
