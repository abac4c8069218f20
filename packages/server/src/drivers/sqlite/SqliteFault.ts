/** What goes wrong in SQLite, as the error that callers of a store know. */
import { JobStoreError } from "@jobwire/protocol"

/** What `node:sqlite` throws: `errcode` is SQLite's extended result code. */
export interface SqliteError extends Error {
  readonly errcode: number
}

/** Primary result codes of SQLite. */
export const resultCodes = {
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  inputOutput: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26
} as const

/** Whether this is an error of SQLite itself, and not of the program around it. */
export const isSqliteError = (error: unknown): error is SqliteError =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number"

/** The primary result code: the lower eight bits of the extended one. */
export const primaryCode = (error: SqliteError): number => error.errcode & 0xff

/** A fault of this driver. `transient` when the same call may well succeed later. */
export const driverFault = (message: string, transient: boolean): JobStoreError =>
  new JobStoreError({ message, reason: { _tag: "DriverFault", transient } })

/** The fault that this error of SQLite is, for the database in this file. */
export const fromSqlite = (filename: string, error: SqliteError): JobStoreError => {
  const { advice, transient } = meaningOf(primaryCode(error))
  return driverFault(
    `the database ${filename} failed: ${error.message}${advice === "" ? "" : `: ${advice}`}`,
    transient
  )
}

const meaningOf = (code: number): { readonly advice: string; readonly transient: boolean } => {
  switch (code) {
    case resultCodes.full:
      return { advice: "nothing was written: free some space, then try again", transient: true }
    case resultCodes.inputOutput:
      return { advice: "nothing was written: look at the disk, then try again", transient: true }
    case resultCodes.busy:
    case resultCodes.locked:
    case resultCodes.noMemory:
      return { advice: "nothing was written: try again", transient: true }
    case resultCodes.readOnly:
      return { advice: "this process may not write to the file or its directory", transient: false }
    case resultCodes.corrupt:
    case resultCodes.notADatabase:
      return { advice: "the file is damaged: restore it from a backup", transient: false }
    default:
      return { advice: "", transient: false }
  }
}
