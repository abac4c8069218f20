/**
 * The rule for fields that may be missing: absent on the wire is `undefined` in memory, and `null` is a value.
 */
import { Effect, Option, Schema, SchemaGetter } from "effect"

/**
 * A field that is absent on the wire when it is `undefined` in memory. The decoded key is always there, so two equal
 * records have the same keys; constructors fill it with `undefined`.
 */
export const maybe = <S extends Schema.Top>(schema: S) =>
  Schema.optionalKey(schema).pipe(
    Schema.decodeTo(Schema.UndefinedOr(Schema.toType(schema)), {
      decode: SchemaGetter.transformOptional((value) => (Option.isSome(value) ? value : Option.some(undefined))),
      encode: SchemaGetter.transformOptional(Option.filter((value) => value !== undefined))
    }),
    Schema.withConstructorDefault(Effect.succeed(undefined))
  )

/** A field that both a constructor and the wire may leave out, with the value it then has. */
export const defaulted = <S extends Schema.Top & Schema.WithoutConstructorDefault>(
  schema: S,
  value: S["Encoded"] & S["~type.make.in"]
) =>
  schema.pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(value)),
    Schema.withConstructorDefault(Effect.succeed(value))
  )
