/** Statements that concurrent callers share, and how they come apart again when one of the callers may be why it failed. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect, Exit, type Scope } from "effect"
import * as Batcher from "../../batch/Batcher.ts"
import { driverFault } from "../PostgresFault.ts"

/** How callers are gathered, and the statement for some of them, which answers by position. */
export interface Shared<Item, Answer> extends Batcher.Gathering<Item> {
  readonly run: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Answer>, JobStoreError>
}

// What is not transient happens again to whoever it was, and to nobody else.
const isOfItems = ({ reason }: JobStoreError): boolean => reason._tag === "DriverFault" && !reason.transient

const runApart = <Item, Answer>(
  items: ReadonlyArray<Item>,
  run: Shared<Item, Answer>["run"]
): Effect.Effect<ReadonlyArray<Exit.Exit<Answer, JobStoreError>>> =>
  Effect.matchEffect(run(items), {
    onSuccess: (answers) => Effect.succeed(answers.map((answer) => Exit.succeed(answer))),
    onFailure: (error) =>
      items.length > 1 && isOfItems(error)
        ? Effect.map(
            Effect.forEach(items, (item) => runApart([item], run)),
            (answers) => answers.flat()
          )
        : Effect.succeed(items.map(() => Exit.fail(error)))
  })

const closed = (): JobStoreError =>
  driverFault("the stores of this database are closed: their layer's scope has ended", false)

/** Takes items for as long as the scope lives. */
export const make = <Item, Answer>({
  run,
  ...gathering
}: Shared<Item, Answer>): Effect.Effect<(item: Item) => Effect.Effect<Answer, JobStoreError>, never, Scope.Scope> =>
  Effect.map(
    Batcher.make<Item, Exit.Exit<Answer, JobStoreError>, JobStoreError>({
      ...gathering,
      run: (items) => runApart(items, run),
      refusal: closed
    }),
    (batcher) => (item) => Effect.flatten(batcher.submit(item))
  )
