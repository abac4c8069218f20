/** What became of the answer to a call: it was handed over to its caller's connection, or there was nobody to hand it to. */
import { Context } from "effect"

/** The delivery of one answer. The transport says how it ended, and whoever cares is told. */
export class Delivery {
  #wasDelivered: boolean | undefined
  #tell: ((wasDelivered: boolean) => void) | undefined

  /** Says how it ended. Only the first word counts. */
  end(wasDelivered: boolean): void {
    if (this.#wasDelivered !== undefined) return
    this.#wasDelivered = wasDelivered
    this.#tell?.(wasDelivered)
  }

  /** Whether the caller is gone already. */
  get isLost(): boolean {
    return this.#wasDelivered === false
  }

  /** Has one listener told how it ends, at once when it has ended. */
  onEnd(tell: (wasDelivered: boolean) => void): void {
    if (this.#wasDelivered === undefined) this.#tell = tell
    else tell(this.#wasDelivered)
  }
}

/** The delivery of the current call; absent where no transport follows it. */
export const CurrentDelivery = Context.Reference<Delivery | undefined>("@jobwire/server/Delivery", {
  defaultValue: () => undefined
})
