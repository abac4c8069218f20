/** How much `jobwire serve` holds at a time and how long it takes to stop, as the command line and the environment say it. */
import { Config, Option } from "effect"
import { Flag } from "effect/cli"
import { durationFlag } from "../flags/Duration.ts"
import { wholeFlag } from "../flags/Whole.ts"

const most = 10_000_000

const waitsFlag = (name: string, variable: string, whose: string, unlessGiven: string) =>
  wholeFlag(name, 0, most).pipe(
    Flag.withFallbackConfig(Config.Int(variable)),
    Flag.filter(
      (value) => value >= 0 && value <= most,
      (value) => `${variable} must be a whole number from 0 to ${most}, and it is ${value}`
    ),
    Flag.withDescription(`Waits of ${whose} that may be parked at a time (${variable}; ${unlessGiven} unless given)`),
    Flag.optional
  )

/** The flags that say it. */
export const limitFlags = {
  maxTenantWaits: waitsFlag("max-tenant-waits", "JOBWIRE_MAX_TENANT_WAITS", "one tenant", "20,000"),
  maxServerWaits: waitsFlag("max-server-waits", "JOBWIRE_MAX_SERVER_WAITS", "all tenants", "50,000"),
  grace: durationFlag("grace").pipe(
    Flag.withDescription("How long calls in flight may take once the server is told to stop (5s unless given)"),
    Flag.optional
  )
}

interface LimitInput {
  readonly maxTenantWaits: Option.Option<number>
  readonly maxServerWaits: Option.Option<number>
  readonly grace: Option.Option<number>
}

/** What the flags hold, as options of the server. */
export const limitsOf = ({ grace, maxServerWaits, maxTenantWaits }: LimitInput) => ({
  grace: Option.getOrUndefined(grace),
  maxServerWaits: Option.getOrUndefined(maxServerWaits),
  maxTenantWaits: Option.getOrUndefined(maxTenantWaits)
})
