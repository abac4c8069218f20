/** Everybody who takes part. */
import type { Ability, Contender } from "./Contender.ts"
import { beanstalkd, database, folder, noGround, redis, server, serverOnPostgres } from "./grounds.ts"

const at = (path: string): URL => new URL(path, import.meta.url)

const drivers = {
  memory: { ground: server("memory"), abilities: ["queues", "names"] },
  sqlite: { ground: server("sqlite"), abilities: ["queues", "names"] },
  postgres: { ground: serverOnPostgres, abilities: ["waiting", "finished", "queues", "names"] }
} as const

const transports = { websocket: "WebSocket", http: "HTTP" } as const

const shape = { batch: 250, callers: 2 }
const shapeText = `${shape.callers} loops of claimMany and ackMany, of ${shape.batch} at most and twice what came last; bulk by enqueueMany of 500, 4 at once`

const jobwire = (driver: keyof typeof drivers, transport: keyof typeof transports): Contender => ({
  name: `jobwire-${driver}-${transport}`,
  label: `Jobwire, ${driver}, ${transports[transport]}`,
  settings: `server in its own process; ${driver === "sqlite" ? "synchronous full; " : ""}${shapeText}`,
  module: at("../jobwire/remote.ts"),
  options: { transport, ...shape },
  ...drivers[driver],
  // What grows is in the database, whatever the transport.
  abilities: transport === "http" ? [] : drivers[driver].abilities
})

const jobwireInProcess: Contender = {
  name: "jobwire-sqlite-in-process",
  label: "Jobwire, sqlite, in-process",
  settings: `the driver without server and network, in the process of its user; synchronous full; ${shapeText}`,
  module: at("../jobwire/in-process.ts"),
  options: shape,
  ground: folder,
  oneProcess: true,
  abilities: []
}

const onPostgres: ReadonlyArray<Ability> = ["waiting", "finished", "queues", "names"]

const effectMqCallers = { callers: 16 }

const effectMq: ReadonlyArray<Contender> = [
  {
    name: "effect-mq-postgres",
    label: "effect-mq 0.7.0, Postgres",
    settings: `on Effect 4.1, in-process; its store's own calls, ${effectMqCallers.callers} callers on as many connections; its LISTEN does not work on this Effect`,
    module: at("../peers/effect-mq/postgres.ts"),
    options: effectMqCallers,
    ground: database,
    abilities: onPostgres
  },
  {
    name: "effect-mq-postgres-rc",
    label: "effect-mq 0.7.0, Postgres, Effect 4.0 rc",
    settings: "on the Effect of its own days, where its LISTEN works; else as the other",
    module: at("../peers/effect-mq/postgres.ts"),
    dependencies: at("../peers/effect-mq-rc"),
    options: effectMqCallers,
    ground: database,
    abilities: []
  },
  {
    name: "effect-mq-memory",
    label: "effect-mq 0.7.0, memory",
    settings: `in-process, producer and worker in one process; ${effectMqCallers.callers} callers; keeps nothing`,
    module: at("../peers/effect-mq/memory.ts"),
    options: effectMqCallers,
    ground: noGround,
    oneProcess: true,
    abilities: ["queues", "names"]
  }
]

const boss = { workers: 4, batch: 1000 }

const pgBoss = (notify: boolean): Contender => ({
  name: notify ? "pg-boss-notify" : "pg-boss",
  label: `pg-boss 12.38, ${notify ? "NOTIFY" : "polling"}`,
  settings:
    `${boss.workers} workers, batches of ${boss.batch}, fetches on while batches are full, else ` +
    `${notify ? "when notified" : "every 0.5 s, its shortest"}; bulk by insert of 1,000`,
  module: at("../peers/pg-boss.ts"),
  options: { notify, ...boss },
  ground: database,
  abilities: notify ? [] : ["waiting", "finished", "queues"]
})

const graphile = { jobs: 24 }
const localQueue = 500

const graphileWorker = (batched: boolean): Contender => ({
  name: batched ? "graphile-worker-batched" : "graphile-worker",
  label: `graphile-worker 0.18${batched ? ", local queue and batches" : ""}`,
  settings:
    `${graphile.jobs} concurrent jobs${batched ? `, local queue of ${localQueue}, completions batched` : ""}; ` +
    `bulk by addJobs of 1,000; deletes what is finished`,
  module: at("../peers/graphile-worker.ts"),
  options: batched ? { ...graphile, localQueue } : graphile,
  ground: database,
  abilities: ["waiting", "queues", "names"]
})

const bull = { concurrency: 100 }

const bullMq = (always: boolean): Contender => ({
  name: always ? "bullmq-always" : "bullmq",
  label: `BullMQ 6.7, AOF ${always ? "always" : "every second"}`,
  settings: `concurrency ${bull.concurrency}; bulk by addBulk of 1,000`,
  module: at("../peers/bullmq.ts"),
  options: bull,
  ground: redis(always ? "always" : "everysec"),
  abilities: []
})

const beanstalkOptions = { connections: 16 }

const beanstalk: Contender = {
  name: "beanstalkd",
  label: "beanstalkd",
  settings: `${beanstalkOptions.connections} connections, each a job at a time; puts pipelined on one connection`,
  module: at("../peers/beanstalkd/adapter.ts"),
  options: beanstalkOptions,
  ground: beanstalkd,
  abilities: ["queues"]
}

/** In the order of the tables. */
export const contenders: ReadonlyArray<Contender> = [
  jobwire("memory", "websocket"),
  jobwire("memory", "http"),
  jobwire("sqlite", "websocket"),
  jobwire("sqlite", "http"),
  jobwireInProcess,
  jobwire("postgres", "websocket"),
  jobwire("postgres", "http"),
  ...effectMq,
  pgBoss(false),
  pgBoss(true),
  graphileWorker(false),
  graphileWorker(true),
  bullMq(false),
  bullMq(true),
  beanstalk
]
