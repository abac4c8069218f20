/** Every limit: what is exactly as long, big or many is taken; one more is refused and nothing has changed. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Limits from "../Limits.ts"
import { child, fanOut, report } from "./flowKit.ts"
import * as Kit from "./kit.ts"
import { durationPlaces, mostDuration } from "./numberPlaces.ts"
import { textPlaces } from "./textPlaces.ts"
import { metadataPlaces, valuePlaces } from "./valuePlaces.ts"
import { byOperation, over, type Place, refusesOver, takes, trial, waysToAck } from "./world.ts"

const { batchLength, callBytes, metadataBytes, payloadBytes } = Limits.defaults

const texts = (test: Kit.Test) => {
  for (const [operation, places] of byOperation(textPlaces)) {
    const free = places.filter((place) => place.hasForm !== true)
    if (free.length > 0) {
      test(`${operation}: a text may be exactly as long as its limit`, (store) =>
        takes(
          store,
          free.map((place) => trial(place, "x".repeat(place.limit)))
        ))
    }
    test(`${operation}: a text longer than its limit is refused, and nothing has changed`, (store) =>
      refusesOver(
        store,
        places.map((place) => over(place, "x".repeat(place.limit + 1), place.limit))
      ))
  }

  test("lengths count UTF-16 code units", (store) =>
    Effect.gen(function* () {
      const half = Limits.defaults.idLength / 2
      const longest = "\u{1f600}".repeat(half)
      assert.strictEqual(yield* Kit.add(store, { id: longest }), longest)
      const reason = yield* Kit.refusedFor(store.getJob(`${longest}x`), "LimitExceeded")
      assert.strictEqual(reason.size, 2 * half + 1)
      const accented = "\u00e9".repeat(2 * half)
      assert.strictEqual(yield* Kit.add(store, { id: accented }), accented)
    }))
}

/** A string whose JSON text has this many bytes. */
const jsonOf = (bytes: number): string => "x".repeat(bytes - 2)

/** Metadata whose JSON text has this many bytes. */
const metadataOf = (bytes: number): Record<string, string> => ({ k: "x".repeat(bytes - '{"k":""}'.length) })

const bytes = (test: Kit.Test) => {
  for (const [operation, places] of byOperation(valuePlaces)) {
    test(`${operation}: a value may have exactly as many bytes as its limit`, (store) =>
      takes(
        store,
        places.map((place) => trial(place, jsonOf(place.limit)))
      ))
    test(`${operation}: a value with more bytes than its limit is refused, and nothing has changed`, (store) =>
      refusesOver(
        store,
        places.map((place) => over(place, jsonOf(place.limit + 1), place.limit))
      ))
  }

  for (const [operation, places] of byOperation(metadataPlaces)) {
    test(`${operation}: metadata may have exactly as many bytes as its limit`, (store) =>
      takes(
        store,
        places.map((place) => trial(place, metadataOf(metadataBytes)))
      ))
    test(`${operation}: metadata with more bytes than its limit is refused, and nothing has changed`, (store) =>
      refusesOver(
        store,
        places.map((place) => over(place, metadataOf(metadataBytes + 1), metadataBytes))
      ))
  }

  test("sizes count the UTF-8 bytes of the JSON text, structure and escapes included", (store) =>
    Effect.gen(function* () {
      // Two bytes a character; six for the control character, which JSON escapes; two for the quotes.
      const payload = `\u0001${"\u00e9".repeat((payloadBytes - 8) / 2)}`
      const id = yield* Kit.add(store, { payload })
      assert.isTrue((yield* Kit.find(store, id)).payload === payload, "the payload came back another")
      const { size } = yield* Kit.refusedFor(store.enqueue(Kit.request({ payload: [payload] })), "LimitExceeded")
      assert.strictEqual(size, payloadBytes + 2)
    }))
}

const durations = (test: Kit.Test) => {
  for (const [operation, places] of byOperation(durationPlaces)) {
    test(`${operation}: a duration may be exactly as long as the limit`, (store) =>
      takes(
        store,
        places.map((place) => trial(place, mostDuration))
      ))
    test(`${operation}: a duration longer than the limit is refused, and nothing has changed`, (store) =>
      refusesOver(
        store,
        places.map((place) => over(place, mostDuration + 1, mostDuration))
      ))
  }

  test("a job may be delayed by the longest duration, and promoted all the same", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, { delayMs: mostDuration })
      yield* Kit.isJob(store, id, { state: "delayed", runAt: Kit.start + mostDuration })
      assert.strictEqual((yield* Kit.takeNothing(store)).nextRunAt, Kit.start + mostDuration)
      yield* store.promote(id)
      assert.strictEqual((yield* Kit.take(store)).id, id)
    }))
}

const many = <A>(length: number, item: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length }, (_, index) => item(index))

/** The lists of the arguments, by how many items they have. */
const listPlaces: ReadonlyArray<Place<number>> = [
  {
    operation: "enqueueMany",
    field: "requests",
    call: (store, _world, length) => store.enqueueMany(many(length, () => Kit.request({ payload: undefined })))
  },
  {
    operation: "claim",
    field: "options.names",
    call: (store, _world, length) => store.claim(Kit.claimOptions({ names: many(length, (n) => `name-${n}`) }))
  },
  {
    operation: "claimMany",
    field: "options.names",
    call: (store, _world, length) => store.claimMany(Kit.claimManyOptions({ names: many(length, (n) => `name-${n}`) }))
  },
  ...waysToAck.map(({ ack, operation }): Place<number> => ({
    operation,
    field: "outcome.children",
    call: (store, { held }, length) =>
      ack(store, held.id, held.token, fanOut(many(length, (n) => child(held.id, `key-${n}`))))
  })),
  {
    operation: "ackMany",
    field: "acks",
    call: (store, _world, length) =>
      store.ackMany(many(length, (n) => ({ id: `id-${n}`, token: "t", outcome: Kit.cancelled })))
  },
  {
    operation: "extendLocks",
    field: "locks",
    call: (store, _world, length) =>
      store.extendLocks(
        many(length, (n) => ({ id: `id-${n}`, token: "t" })),
        1000
      )
  },
  {
    operation: "awaitWake",
    field: "queues",
    call: (store, { wakeToken }, length) =>
      store.awaitWake([Kit.queue, ...many(length - 1, (n) => `queue-${n}`)], wakeToken)
  },
  {
    operation: "recordChildResults",
    field: "reports",
    call: (store, { parent }, length) =>
      store.recordChildResults(many(length, (n) => report(parent, `key-${n}`, "completed")))
  },
  {
    operation: "markChildrenCascaded",
    field: "childKeys",
    call: (store, { parent }, length) =>
      store.markChildrenCascaded(
        parent,
        many(length, (n) => `key-${n}`)
      )
  },
  {
    operation: "deleteOutbox",
    field: "ids",
    call: (store, _world, length) => store.deleteOutbox(many(length, (n) => `unknown-${n}`))
  }
]

/** The arguments of a call that cannot be cut, by the bytes of all their values together. */
const callPlaces: ReadonlyArray<Place<number>> = [
  ...waysToAck.map(({ ack, operation }): Place<number> => ({
    operation,
    field: "outcome.children",
    call: (store, { held }, size) => {
      const children = valuesOf(size).map((payload, n) => child(held.id, `key-${n}`, { payload }))
      return ack(store, held.id, held.token, fanOut(children))
    }
  })),
  {
    operation: "recordChildResults",
    field: "reports",
    call: (store, { parent }, size) =>
      store.recordChildResults(valuesOf(size).map((exit, n) => report(parent, `key-${n}`, "completed", { exit })))
  }
]

/** Values that have this many bytes together, none of them too big on its own. */
const valuesOf = (size: number): ReadonlyArray<string> => {
  const first = many(Math.floor(size / payloadBytes) - 1, () => jsonOf(payloadBytes))
  const rest = size - first.length * payloadBytes
  const half = Math.floor(rest / 2)
  return [...first, jsonOf(half), jsonOf(rest - half)]
}

const lists = (test: Kit.Test) => {
  for (const place of listPlaces) {
    const { field, operation } = place
    test(`${operation}: ${field} may have ${batchLength} items`, (store) => takes(store, [trial(place, batchLength)]))
    test(`${operation}: ${field} of ${batchLength + 1} items is refused, and none of it happens`, (store) =>
      refusesOver(store, [over(place, batchLength + 1, batchLength)]))
  }

  for (const place of callPlaces) {
    const { field, operation } = place
    test(`${operation}: the values of ${field} may have ${callBytes} bytes together`, (store) =>
      takes(store, [trial(place, callBytes)]))
    test(`${operation}: values of ${field} of ${callBytes + 1} bytes together are refused`, (store) =>
      refusesOver(store, [over(place, callBytes + 1, callBytes)]))
  }
}

export const limits = (test: Kit.Test) => {
  describe("limits: length of texts", () => {
    texts(test)
  })
  describe("limits: bytes of values", () => {
    bytes(test)
  })
  describe("limits: durations", () => {
    durations(test)
  })
  describe("limits: items and bytes of a call", () => {
    lists(test)
  })
}
