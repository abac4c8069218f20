/** `jobwire jobs`: looking at jobs and acting on them. */
import { Command } from "effect/cli"
import { list } from "./jobs/list.ts"
import { cancel, promote, remove, retry } from "./jobs/actions.ts"
import { show } from "./jobs/show.ts"

/** The command and its subcommands. */
export const jobs = Command.make("jobs").pipe(
  Command.withDescription("Look at jobs and act on them."),
  Command.withShortDescription("List, show, retry, cancel, promote or remove jobs"),
  Command.withSubcommands([list, show, retry, cancel, promote, remove])
)
