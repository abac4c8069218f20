/** What goes wrong in PostgreSQL, as the error that callers of a store know. */
import { JobStoreError } from "@jobwire/protocol"
import type { SqlError } from "effect/sql/SqlError"

/** A fault of this driver. `transient` when the same call may well succeed later. */
export const driverFault = (message: string, transient: boolean): JobStoreError =>
  new JobStoreError({ message, reason: { _tag: "DriverFault", transient } })

/** Whether the transaction lost against others and was rolled back: running it again is right, and likely to succeed. */
export const isConflict = (error: SqlError): boolean =>
  error.reason._tag === "DeadlockError" || error.reason._tag === "SerializationError"

/** Whether a key is there already: somebody has given the same id, or the same token holds a job, which the next look shows. */
export const isTaken = (error: SqlError): boolean => sqlState(error) === "23505"

/** Whether the connection is gone. A statement that was under way may or may not have been carried out. */
export const isConnectionLost = (error: SqlError): boolean =>
  error.reason._tag === "ConnectionError" || startsWith(sqlState(error), "57P")

/**
 * Whether the same statement may well succeed soon: a lost connection, a server that starts, stops or has been replaced, a conflict, a
 * lack of connections, memory or disk.
 */
export const isTransient = (error: SqlError): boolean =>
  isConnectionLost(error) ||
  isConflict(error) ||
  error.reason._tag === "LockTimeoutError" ||
  error.reason._tag === "StatementTimeoutError" ||
  startsWith(sqlState(error), "53") ||
  // A database that only reads: the one that was the primary before a failover.
  startsWith(sqlState(error), "25006")

/** The five characters by which PostgreSQL names an error; absent for faults of the connection. */
export const sqlState = (error: SqlError): string | undefined => {
  const cause: unknown = error.reason.cause
  return typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : undefined
}

/** The fault that this error of PostgreSQL is; what was under way was rolled back. */
export const fromSql = (error: SqlError): JobStoreError =>
  driverFault(sentence(error, "nothing was written"), isTransient(error))

/** The fault of a connection that was lost when everything was sent: the transaction may have been committed. */
export const fromLostCommit = (error: SqlError): JobStoreError =>
  new JobStoreError({
    message: sentence(error, "the call may have been carried out"),
    reason: { _tag: "OutcomeUnknown" }
  })

const sentence = (error: SqlError, outcome: string): string => {
  const advice = adviceOn(error)
  return `PostgreSQL failed: ${textOf(error)}: ${outcome}${advice === "" ? "" : `: ${advice}`}`
}

/** The text of the database itself, where there is one; it holds no credentials. */
export const textOf = ({ reason }: SqlError): string => {
  const cause: unknown = reason.cause
  return cause instanceof Error && cause.message !== "" ? cause.message : reason.message
}

const startsWith = (state: string | undefined, prefix: string): boolean => state?.startsWith(prefix) === true

const adviceOn = (error: SqlError): string => {
  const state = sqlState(error)
  if (startsWith(state, "53100")) return "the disk is full: free some space, then try again"
  if (startsWith(state, "53300"))
    return "the database has no connection left: raise its max_connections, or lower the pools of its servers"
  switch (error.reason._tag) {
    case "AuthenticationError":
      return "look at the user and the password in the URL"
    case "AuthorizationError":
      return "grant the role its rights (docs/postgres.md has the statements)"
    case "ConnectionError":
      return "look whether the database is up and can be reached, then try again"
    case "StatementTimeoutError":
      return "the statement took too long: look what the database is doing, then try again"
    default:
      return isTransient(error) ? "try again" : ""
  }
}
