/**
 * Finds where frames and messages begin and end in the bytes of a WebSocket (RFC 6455), and changes none of them. Whatever the
 * bytes are, it takes them: what breaks the rules is for the peers to see.
 */

/** Bytes that stand together in one frame. */
export interface Piece {
  readonly bytes: Buffer
  /** Of a ping, a pong or a close; else of a message. */
  readonly isControl: boolean
  /** It is the beginning of a message. */
  readonly begins: boolean
  /** It is the end of a message. */
  readonly ends: boolean
  /** The frame that they are of. */
  readonly frame: Frame
}

/** What the header of a frame says. */
export interface Frame {
  readonly opcode: number
  readonly isLast: boolean
  /** Header and payload, in bytes. */
  readonly size: number
  /** The payload alone, in bytes. */
  readonly payload: number
}

// The lengths of a header by the second byte of a frame: two bytes, those of a longer length, and a mask.
const headerSize = (second: number): number => {
  const length = second & 0x7f
  return 2 + (length === 127 ? 8 : length === 126 ? 2 : 0) + ((second & 0x80) === 0 ? 0 : 4)
}

const readFrame = (bytes: Buffer): Frame | undefined => {
  const [first = 0, second = 0] = bytes
  const header = headerSize(second)
  if (bytes.length < 2 || bytes.length < header) return undefined
  const length = second & 0x7f
  const payload = length === 127 ? Number(bytes.readBigUInt64BE(2)) : length === 126 ? bytes.readUInt16BE(2) : length
  return { opcode: first & 0x0f, isLast: (first & 0x80) !== 0, size: header + payload, payload }
}

const isControl = ({ opcode }: Frame): boolean => opcode >= 8

// No control frame that keeps to the rules has more.
const longestControl = 125

/** The bytes of one direction. */
export class Splitter {
  /** Bytes that do not tell yet what they are. */
  private held: Buffer = Buffer.alloc(0)
  /** The frame that is not complete yet. */
  private frame: Frame | undefined
  /** How much is still to come of the frame, in bytes. */
  private left = 0
  /** A message has begun that has not ended. */
  private isInside = false

  /** The pieces that these bytes make complete. */
  take(chunk: Buffer): ReadonlyArray<Piece> {
    const pieces: Array<Piece> = []
    let bytes = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk])
    while (bytes.length > 0) {
      const frame = this.frame ?? readFrame(bytes)
      if (frame === undefined) break
      // Control frames come whole, so that nothing can get into them.
      if (isControl(frame) && frame.payload <= longestControl && bytes.length < frame.size) break
      if (this.frame === undefined) this.left = frame.size
      const size = Math.min(this.left, bytes.length)
      pieces.push(this.piece(frame, bytes.subarray(0, size)))
      bytes = bytes.subarray(size)
    }
    this.held = bytes
    return pieces
  }

  private piece(frame: Frame, bytes: Buffer): Piece {
    this.left -= bytes.length
    this.frame = this.left === 0 ? undefined : frame
    if (isControl(frame)) return { bytes, isControl: true, begins: false, ends: false, frame }
    const begins = !this.isInside
    const ends = this.left === 0 && frame.isLast
    this.isInside = !ends
    return { bytes, isControl: false, begins, ends, frame }
  }
}
