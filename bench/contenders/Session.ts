/** A contender ready to be measured: fresh ground, and a producer and a worker that are connected to it. */
import { fileURLToPath } from "node:url"
import { Participant } from "../participants/Participant.ts"
import type { Postgres } from "../services/postgres.ts"
import type { Contender, Ground } from "./Contender.ts"
import type { Place } from "./Store.ts"

/** What a workload works with. */
export interface Session {
  readonly contender: Contender
  readonly ground: Ground
  readonly producer: Participant
  /** The same process as the producer where the store knows no other. */
  readonly worker: Participant
}

/** The contender's service is not installed. */
export class Missing extends Error {
  constructor(contender: Contender) {
    super(`left out: what ${contender.label} stands on is not installed`)
  }
}

const participants = (contender: Contender): ReadonlyArray<Participant> =>
  Array.from({ length: contender.oneProcess === true ? 1 : 2 }, () => new Participant())

const connect = async (
  contender: Contender,
  ground: Ground,
  processes: ReadonlyArray<Participant>,
  places: ReadonlyArray<Place>
): Promise<void> => {
  const assignment = {
    module: contender.module.href,
    target: { url: ground.url, options: contender.options },
    dependencies: contender.dependencies === undefined ? undefined : fileURLToPath(contender.dependencies)
  }
  await Promise.all(processes.map((process) => process.call("assign", assignment)))
  await processes[0]?.call("prepare", places, 60)
  await Promise.all(processes.map((process) => process.call("connect", null)))
}

/** Opens one, lets it be used, and clears it away whatever happens. */
export const withSession = async <A>(
  contender: Contender,
  postgres: () => Promise<Postgres>,
  places: ReadonlyArray<Place>,
  use: (session: Session) => Promise<A>
): Promise<A> => {
  const ground = await contender.ground(postgres)
  if (ground === undefined) throw new Missing(contender)
  const processes = participants(contender)
  try {
    await connect(contender, ground, processes, places)
    const [producer, worker = producer] = processes
    if (producer === undefined || worker === undefined) throw new Error("no process was started")
    return await use({ contender, ground, producer, worker })
  } finally {
    await Promise.all(processes.map((process) => process.end()))
    await ground.clear()
  }
}
