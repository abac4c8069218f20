/** Where messages begin and end in the bytes of a WebSocket, however they are cut into chunks. */
import { describe, expect, it } from "vitest"
import * as fc from "fast-check"
import { type Piece, Splitter } from "../src/websocket/Splitter.ts"

const header = (first: number, masked: boolean, length: number): Buffer => {
  const bit = masked ? 0x80 : 0
  const mask = Buffer.alloc(masked ? 4 : 0, 7)
  if (length < 126) return Buffer.concat([Buffer.from([first, bit | length]), mask])
  const long = Buffer.alloc(length < 65_536 ? 4 : 10)
  long[0] = first
  long[1] = bit | (length < 65_536 ? 126 : 127)
  if (length < 65_536) long.writeUInt16BE(length, 2)
  else long.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([long, mask])
}

const frame = (opcode: number, isLast: boolean, masked: boolean, length: number): Buffer =>
  Buffer.concat([header((isLast ? 0x80 : 0) | opcode, masked, length), Buffer.alloc(length, opcode)])

const length = fc.oneof(fc.nat({ max: 130 }), fc.constantFrom(0, 125, 126, 127, 65_535, 65_536, 70_000))

/** A message: the lengths of its frames, and whether a ping comes behind the first of them. */
const message = fc.record({
  lengths: fc.array(length, { minLength: 1, maxLength: 3 }),
  isMasked: fc.boolean(),
  ping: fc.option(fc.nat({ max: 125 }), { nil: undefined })
})
type Message = typeof message extends fc.Arbitrary<infer A> ? A : never

const framesOf = ({ isMasked, lengths, ping }: Message): ReadonlyArray<Buffer> =>
  lengths.flatMap((length, at) => {
    const data = frame(at === 0 ? 1 : 0, at === lengths.length - 1, isMasked, length)
    return at === 0 && ping !== undefined ? [data, frame(9, true, isMasked, ping)] : [data]
  })

const take = (bytes: Buffer, cuts: ReadonlyArray<number>): ReadonlyArray<Piece> => {
  const splitter = new Splitter()
  const at = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  let from = 0
  return at.flatMap((to) => {
    const pieces = splitter.take(bytes.subarray(from, to))
    from = to
    return pieces
  })
}

const joined = (pieces: ReadonlyArray<Piece>): Buffer => Buffer.concat(pieces.map(({ bytes }) => bytes))

describe("the pieces", () => {
  it("are all bytes in their order, begin and end once for each message, and hold control frames whole", () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 6 }),
        fc.array(fc.nat({ max: 300_000 }), { maxLength: 12 }),
        (messages, cuts) => {
          const bytes = Buffer.concat(messages.flatMap(framesOf))
          const pieces = take(bytes, cuts)
          expect(joined(pieces).equals(bytes)).toBe(true)
          const control = pieces.filter(({ isControl }) => isControl)
          expect(control.map(({ bytes }) => bytes)).toEqual(
            messages.flatMap(({ isMasked, ping }) => (ping === undefined ? [] : [frame(9, true, isMasked, ping)]))
          )
          const data = pieces.filter(({ isControl }) => !isControl)
          expect(data.filter(({ begins }) => begins)).toHaveLength(messages.length)
          expect(data.filter(({ ends }) => ends)).toHaveLength(messages.length)
          // Each begins where the one before it has ended.
          data.forEach(({ begins }, at) => expect(begins).toBe(at === 0 || data[at - 1]?.ends === true))
        }
      ),
      { numRuns: 200 }
    )
  })

  it("hold back nothing of what is no WebSocket but what may still become a header", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 2000 }),
        fc.array(fc.nat({ max: 2000 }), { maxLength: 8 }),
        (noise, cuts) => {
          const bytes = Buffer.from(noise)
          const passed = joined(take(bytes, cuts))
          expect(passed.equals(bytes.subarray(0, passed.length))).toBe(true)
          expect(bytes.length - passed.length).toBeLessThan(14 + 126)
        }
      )
    )
  })
})
