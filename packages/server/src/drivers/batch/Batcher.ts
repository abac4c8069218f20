/**
 * What concurrent callers want, carried out together. A commit or a statement costs nearly the same for one item as for a hundred. So
 * the first item goes at once, those that arrive while a run is under way go together in the next, and a caller that is alone
 * waits for nobody. Each item is answered by itself.
 */
import { Effect, Exit, type Scope } from "effect"

/** How items are gathered into runs. */
export interface Gathering<Item> {
  /** How many runs may be under way at once. */
  readonly atOnce: number
  /** What a run takes at most; an item that is heavier goes alone. */
  readonly mostWeight: number
  /** 1 for each unless given. */
  readonly weightOf?: ((item: Item) => number) | undefined
}

/** How a run is begun and what it does. */
export interface Runner<Item, Answer, E> extends Gathering<Item> {
  /** Calls back soon: whatever arrives until then goes along. */
  readonly soon: (begin: () => void) => void
  /**
   * Takes items from the batch, in the order of their arrival, as far as it wants and one at least. Says when it is done, with an
   * answer for each item that it took.
   */
  readonly run: (batch: Iterable<Item>, end: (answers: ReadonlyArray<Exit.Exit<Answer, E>>) => void) => void
  /** The error of whoever comes when it is closed. */
  readonly refusal: () => E
}

interface Entry<Item, Answer, E> {
  readonly item: Item
  readonly answer: (exit: Exit.Exit<Answer, E>) => void
  /** The caller went away before its turn. */
  dropped: boolean
}

/** See the file. */
export class Batcher<Item, Answer, E> {
  readonly #runner: Runner<Item, Answer, E>
  #waiting: Array<Entry<Item, Answer, E>> = []
  /** How many of those have been taken. */
  #taken = 0
  #running = 0
  #isScheduled = false
  #isClosed = false
  readonly #onIdle: Array<() => void> = []

  constructor(runner: Runner<Item, Answer, E>) {
    this.#runner = runner
  }

  /** Puts an item into the next run. Interruption before its turn drops it; from then on it is carried out. */
  submit(item: Item): Effect.Effect<Answer, E> {
    return Effect.callback<Answer, E>((resume) => {
      if (this.#isClosed) return resume(Effect.fail(this.#runner.refusal()))
      const entry: Entry<Item, Answer, E> = { item, answer: resume, dropped: false }
      this.#waiting.push(entry)
      this.#schedule()
      return Effect.sync(() => {
        entry.dropped = true
      })
    })
  }

  /** Refuses what comes from now on, and begins to carry out at once what waits. */
  close(): void {
    this.#isClosed = true
    while (this.#hasWork && this.#running < this.#runner.atOnce) this.#begin()
  }

  /** Resolves when nothing waits and nothing is under way. */
  get idle(): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      if (this.#isIdle) resume(Effect.void)
      else this.#onIdle.push(() => resume(Effect.void))
    })
  }

  get #hasWork(): boolean {
    return this.#taken < this.#waiting.length
  }

  get #isIdle(): boolean {
    return !this.#hasWork && this.#running === 0
  }

  #schedule(): void {
    if (this.#isScheduled || !this.#hasWork || this.#running >= this.#runner.atOnce) return
    this.#isScheduled = true
    this.#runner.soon(() => {
      this.#isScheduled = false
      if (this.#hasWork && this.#running < this.#runner.atOnce) this.#begin()
      this.#schedule()
    })
  }

  #begin(): void {
    const entries: Array<Entry<Item, Answer, E>> = []
    this.#running++
    this.#runner.run(this.#batch(entries), (answers) => {
      this.#running--
      // Nobody is answered before all is in order again: an answer may lead to the next call, or to the end, at once.
      if (this.#isClosed) this.close()
      else this.#schedule()
      entries.forEach((entry, index) => {
        const answer = answers[index]
        if (answer !== undefined) entry.answer(answer)
      })
      if (this.#isIdle) for (const resume of this.#onIdle.splice(0)) resume()
    })
  }

  *#batch(entries: Array<Entry<Item, Answer, E>>): Generator<Item, void> {
    const { mostWeight, weightOf } = this.#runner
    let weight = 0
    for (let next = this.#peek(); next !== undefined; next = this.#peek()) {
      weight += weightOf?.(next.item) ?? 1
      if (weight > mostWeight && entries.length > 0) return
      this.#taken++
      entries.push(next)
      yield next.item
    }
  }

  /** The next entry whose caller is still there. */
  #peek(): Entry<Item, Answer, E> | undefined {
    let next = this.#waiting[this.#taken]
    while (next?.dropped === true) next = this.#waiting[++this.#taken]
    if (next === undefined || this.#taken > 1000) {
      this.#waiting = this.#waiting.slice(this.#taken)
      this.#taken = 0
    }
    return next
  }
}

/** A batcher whose runs are effects. */
export interface EffectRunner<Item, Answer, E> extends Gathering<Item> {
  /** Answers by position; a failure is that of every item. */
  readonly run: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Answer>, E>
  readonly refusal: () => E
}

/**
 * A batcher whose runs are effects. A run begins on the turn of its first item. When the scope closes, what waits is still carried
 * out.
 */
export const make: <Item, Answer, E>(
  runner: EffectRunner<Item, Answer, E>
) => Effect.Effect<Batcher<Item, Answer, E>, never, Scope.Scope> = Effect.fnUntraced(function* <Item, Answer, E>(
  runner: EffectRunner<Item, Answer, E>
) {
  const runFork = Effect.runForkWith(yield* Effect.context())
  const batcher = new Batcher<Item, Answer, E>({
    ...runner,
    soon: queueMicrotask,
    run: (batch, end) => {
      const items = Array.from(batch)
      if (items.length === 0) return end([])
      runFork(runner.run(items)).addObserver((exit: Exit.Exit<ReadonlyArray<Answer>, E>) => {
        end(
          Exit.isFailure(exit)
            ? items.map((): Exit.Exit<Answer, E> => Exit.failCause(exit.cause))
            : exit.value.map((answer): Exit.Exit<Answer, E> => Exit.succeed(answer))
        )
      })
    }
  })
  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      Effect.sync(() => batcher.close()),
      batcher.idle
    )
  )
  return batcher
})
