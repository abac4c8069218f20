/** Runs what was asked for: in rounds, everybody in turn within each, so that nobody has the machine's better hours. */
import type { Contender } from "./contenders/Contender.ts"
import { Missing, type Session, withSession } from "./contenders/Session.ts"
import type { Options } from "./Options.ts"
import type { Postgres } from "./services/postgres.ts"
import { place, type Figure, type Workload } from "./workloads/Workload.ts"

/** What a run tells while it goes on. */
export interface Events {
  readonly service: (service: string) => void
  readonly figures: (who: string, what: string, figures: ReadonlyArray<Figure>, seconds: number) => void
  readonly trouble: (who: string, what: string, message: string) => void
}

type StartPostgres = () => Promise<Postgres>

/** Workloads that are measured on the same ground. */
export const groupsOf = (workloads: ReadonlyArray<Workload>): ReadonlyArray<ReadonlyArray<Workload>> => [
  ...Map.groupBy(workloads, ({ group, name }) => group ?? name).values()
]

const suits = ({ abilities }: Contender, { needs }: Workload): boolean =>
  needs === undefined || abilities.includes(needs)

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Measures one after the other; says which one it did not get through, and why. */
const measureEach = async (
  session: Session,
  group: ReadonlyArray<Workload>,
  { scale }: Options,
  events: Events
): Promise<void> => {
  const { ground, contender } = session
  if (ground.service !== "") events.service(ground.service)
  for (const [index, workload] of group.entries()) {
    const start = performance.now()
    try {
      const figures = await workload.run(session, scale)
      events.figures(contender.name, workload.name, figures, (performance.now() - start) / 1000)
    } catch (error) {
      events.trouble(contender.name, workload.name, `failed: ${messageOf(error)}`)
      // It may have left anything behind.
      const never = group.slice(index + 1)
      return never.forEach(({ name }) => events.trouble(contender.name, name, `not measured: ${workload.name} failed`))
    }
  }
}

const measureGroup = async (
  contender: Contender,
  group: ReadonlyArray<Workload>,
  options: Options,
  postgres: StartPostgres,
  events: Events
): Promise<void> => {
  const places = [place, ...group.flatMap((workload) => workload.places?.(options.scale) ?? [])]
  try {
    await withSession(contender, postgres, places, (session) => measureEach(session, group, options, events))
  } catch (error) {
    const message = error instanceof Missing ? error.message : `could not be started or ended: ${messageOf(error)}`
    for (const { name } of group) events.trouble(contender.name, name, message)
  }
}

const measureLimits = async (options: Options, postgres: StartPostgres, events: Events): Promise<void> => {
  for (const { measure, name } of options.limits) {
    const start = performance.now()
    const value = await measure(postgres, options.scale)
    if (value === undefined) events.trouble(name, "limit", "left out: it is not installed")
    else events.figures(name, "limit", [{ name: "limit", value }], (performance.now() - start) / 1000)
  }
}

/** All rounds. */
export const run = async (options: Options, postgres: StartPostgres, events: Events): Promise<void> => {
  const longest = Math.max(options.rounds, ...options.workloads.map(options.roundsOf))
  for (let round = 1; round <= longest; round++) {
    if (round <= options.rounds) await measureLimits(options, postgres, events)
    for (const group of groupsOf(options.workloads.filter((workload) => round <= options.roundsOf(workload)))) {
      for (const contender of options.contenders) {
        const fitting = group.filter((workload) => suits(contender, workload))
        if (fitting.length > 0) await measureGroup(contender, fitting, options, postgres, events)
      }
    }
  }
}
