/** What must not outlive the bench, also when it is told to stop in the middle. */

const stops = new Set<() => Promise<unknown>>()

/** Remembers how to stop something; gives the stop that also forgets it. */
export const untilStopped = (stop: () => Promise<unknown>): (() => Promise<void>) => {
  stops.add(stop)
  return async () => {
    stops.delete(stop)
    await stop()
  }
}

const stopAll = (code: number): void => {
  Promise.allSettled([...stops].map((stop) => stop())).then(() => process.exit(code))
}

/** From now on, SIGINT, SIGTERM and an error that nobody caught stop everything before they end the process. */
export const stopBeforeTheEnd = (): void => {
  process.once("SIGINT", () => stopAll(130))
  process.once("SIGTERM", () => stopAll(143))
  process.once("uncaughtException", (error) => {
    // Whoever read what was printed may be gone: then nothing can be said.
    if (!("code" in error && error.code === "EPIPE")) console.error(error)
    stopAll(1)
  })
}
