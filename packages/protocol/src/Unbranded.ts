/**
 * The types of a library that brands its strings, as our plain ones. Brands exist for the compiler only, so such a value
 * and ours are the same bytes; the compiler still compares everything else about the two.
 */
import type { Brand, Option } from "effect"

/** `A` with every branded string in it, at any depth, as a plain string. */
export type Unbranded<A> =
  A extends Brand.Brand<string>
    ? string
    : A extends Option.Option<infer Value>
      ? Option.Option<Unbranded<Value>>
      : A extends ReadonlyArray<infer Item>
        ? ReadonlyArray<Unbranded<Item>>
        : A extends object
          ? { readonly [Key in keyof A]: Unbranded<A[Key]> }
          : A

/** Gives a value the brands of the library that it goes to. */
// Brands leave no trace at run time, and the parameter's type compares all the rest.
export const branded = <A>(value: Unbranded<NoInfer<A>>): A => value as A
