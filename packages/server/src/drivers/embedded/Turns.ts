/** Many items whose order matters, and which need not happen in one step. */
import { Array as Arr, Effect } from "effect"

// A long list is cut, so that other callers get their turn in between.
const mostAtOnce = 500

/** Does the work for some of the items after the other, a unit of work each; `first` is the position of theirs. Answers by position. */
export const inTurns = <Item, Answer, E>(
  items: ReadonlyArray<Item>,
  work: (some: ReadonlyArray<Item>, first: number) => Effect.Effect<ReadonlyArray<Answer>, E>
): Effect.Effect<ReadonlyArray<Answer>, E> =>
  items.length <= mostAtOnce
    ? work(items, 0)
    : Effect.map(
        Effect.forEach(Arr.chunksOf(items, mostAtOnce), (some, index) => work(some, index * mostAtOnce)),
        Arr.flatten
      )
