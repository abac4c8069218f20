/** Kinds of commands. */
import * as fc from "fast-check"
import type { Call } from "../answers.ts"
import { calling, type Command, type Sequence, type World } from "./world.ts"

/** A kind of command, or of several that follow each other, and how often it comes. */
export type Kind = fc.WeightedArbitrary<Sequence>

/** What is drawn for a command, and the call that it makes. */
export const command = <A>(
  drawn: fc.Arbitrary<A>,
  make: (world: World, drawn: A) => Call | undefined
): fc.Arbitrary<Command> => drawn.map(calling(make))

/** A kind of command: how often it comes, what is drawn for it, and the call that it makes. */
export const kind = <A>(
  weight: number,
  drawn: fc.Arbitrary<A>,
  make: (world: World, drawn: A) => Call | undefined
): Kind => sequence(weight, command(drawn, make))

/** Commands that follow each other. */
export const sequence = (weight: number, ...commands: ReadonlyArray<fc.Arbitrary<Command>>): Kind => ({
  weight,
  arbitrary: fc.tuple(...commands)
})

/** The kinds, about so many times as often. */
export const times = (factor: number, kinds: ReadonlyArray<Kind>): ReadonlyArray<Kind> =>
  kinds.map(({ arbitrary, weight }) => ({ arbitrary, weight: Math.max(1, Math.round(weight * factor)) }))
