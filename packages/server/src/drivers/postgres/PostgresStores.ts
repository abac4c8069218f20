/** The stores of one database: each is made when it is first asked for, and is there ever after. */
import { type JobStore, type JobStoreError, Limits, Validation } from "@jobwire/protocol"
import { Effect, type Scope, Semaphore } from "effect"
import { JobStores, type StoreId } from "../../JobStores.ts"
import * as LiveClock from "../../LiveClock.ts"
import * as EmbeddedJobStore from "../embedded/EmbeddedJobStore.ts"
import { Engine } from "../embedded/Engine.ts"
import { enqueueFrom } from "../embedded/EnqueueOperations.ts"
import * as HistorySweep from "../embedded/HistorySweep.ts"
import { historyTtlMs } from "../embedded/StoreOptions.ts"
import * as Connections from "./Connections.ts"
import * as HotOperations from "./hot/HotOperations.ts"
import { LaneNumbers } from "./LaneNumbers.ts"
import * as Look from "./look/Look.ts"
import * as MetadataIndexing from "./MetadataIndexing.ts"
import * as Migrations from "./Migrations.ts"
import { fromSql } from "./PostgresFault.ts"
import type { PostgresOptions } from "./PostgresOptions.ts"
import * as Rights from "./Rights.ts"
import * as ServerVersion from "./ServerVersion.ts"
import * as SessionCheck from "./SessionCheck.ts"
import { again } from "./unit/Outcome.ts"
import * as UnitStorage from "./unit/UnitStorage.ts"
import * as ClockOffset from "./upkeep/ClockOffset.ts"
import * as Expired from "./upkeep/Expired.ts"
import * as TallyFolding from "./upkeep/TallyFolding.ts"
import * as PostgresWake from "./wake/PostgresWake.ts"

// One or the other gives a row: the second when somebody else has just given the store its number.
const insertStore =
  "insert into store (tenant, name) values ($1, $2) on conflict (tenant, name) do nothing returning store"
const findStore = "select store from store where tenant = $1 and name = $2"

/** The number of a store, which it is given when it is new. */
const numberOf = (sessions: Connections.Sessions, { store, tenant }: StoreId): Effect.Effect<number, JobStoreError> =>
  sessions
    .use((session) =>
      Effect.gen(function* () {
        const found = yield* session.run(findStore, [tenant, store])
        const made = found.length > 0 ? found : yield* session.run(insertStore, [tenant, store])
        const rows = made.length > 0 ? made : yield* session.run(findStore, [tenant, store])
        return Number(rows[0]?.[0])
      })
    )
    .pipe(Effect.retry(again), LiveClock.withLive, Effect.mapError(fromSql))

/** Brings the schema to this version's layout, or refuses another one. */
const prepareSchema = (options: PostgresOptions): Effect.Effect<void, JobStoreError> =>
  options.migrate === true
    ? Effect.asVoid(Migrations.migrate(options))
    : Effect.flatMap(Migrations.check(options), Migrations.refuse)

/** What the stores of one database share. */
interface Database {
  readonly connections: Connections.Connections
  readonly units: UnitStorage.UnitSessions
  readonly options: PostgresOptions
  readonly wakes: PostgresWake.PostgresWake
  readonly statements: HotOperations.HotStatements
  readonly hasMetadataIndex: boolean
}

/** The store of this number. Nothing in it takes time, so that nobody goes away and leaves half of it. */
const makeStore = Effect.fnUntraced(function* (
  { connections, hasMetadataIndex, options, statements, units: unitSessions, wakes }: Database,
  number: number
): Effect.fn.Return<JobStore.Service, never, Scope.Scope> {
  const limits = yield* Limits.CurrentLimits
  const lanes = new LaneNumbers()
  const wake = wakes.store(number)
  const storage = yield* UnitStorage.make(unitSessions, { number, lanes })
  const engine = new Engine(storage, wake, limits, options.idGenerator)
  yield* Effect.forkScoped(
    HistorySweep.forever(
      engine,
      historyTtlMs(options.historyTtl),
      options.historySweepInterval ?? "1 minute",
      Expired.finder(connections.calm, number)
    )
  )
  const looking = Look.operations({ sessions: connections.calm, store: number, limits, hasMetadataIndex })
  const units = { ...EmbeddedJobStore.operations(engine), enqueueFrom: enqueueFrom(engine) }
  const drawsIds = options.idGenerator === undefined
  const working = HotOperations.operations(statements, { number, lanes, wake, limits, drawsIds, units })
  return Validation.validated({ ...units, ...working, ...looking }, limits)
})

/** The directory of the stores in one database, which is connected for as long as the scope lives. */
export const make: (options: PostgresOptions) => Effect.Effect<JobStores["Service"], JobStoreError, Scope.Scope> =
  Effect.fnUntraced(function* (options) {
    yield* SessionCheck.check(options)
    yield* ServerVersion.check(options)
    yield* prepareSchema(options)
    const pools = yield* Effect.mapError(Connections.make(options), fromSql)
    const folding = yield* TallyFolding.make(pools.calm)
    const connections = { ...pools, hot: Connections.observed(pools.hot, folding.changed) }
    yield* Effect.forkScoped(ClockOffset.watch(connections.calm, options.clockOffsetLimit ?? "2 seconds"))
    yield* Rights.require(connections.calm, options)
    const hasMetadataIndex = yield* MetadataIndexing.hasMetadataIndex(connections.calm)
    const wakes = yield* PostgresWake.make(options, pools.hot)
    const statements = yield* HotOperations.make(connections.hot)
    const database: Database = {
      connections,
      // A transaction may wait for the one of another server; statements of workers must not wait for it too.
      units: {
        write: Connections.limited(connections.hot, Math.ceil(Connections.hotConnections(options) / 2)),
        read: connections.calm
      },
      options,
      wakes,
      statements,
      hasMetadataIndex
    }
    // Stores that are made later live in the scope, and by the clock, that the directory has now.
    const context = yield* Effect.context<Scope.Scope>()
    const oneAtATime = yield* Semaphore.make(1)
    const stores = new Map<string, JobStore.Service>()
    const add = Effect.fnUntraced(function* (id: StoreId, key: string) {
      const number = yield* numberOf(connections.calm, id)
      const made = yield* makeStore(database, number).pipe(Effect.provideContext(context), Effect.uninterruptible)
      stores.set(key, made)
      return made
    })
    const getOr = (key: string, otherwise: Effect.Effect<JobStore.Service, JobStoreError>) =>
      Effect.suspend(() => {
        const found = stores.get(key)
        return found === undefined ? otherwise : Effect.succeed(found)
      })
    return JobStores.of({
      get: (id) => {
        const key = JSON.stringify([id.tenant, id.store])
        return getOr(key, oneAtATime.withPermit(getOr(key, add(id, key))))
      }
    })
  })
