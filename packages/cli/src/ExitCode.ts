/** What the exit codes of `jobwire` mean. `docs/cli.md` lists them for those who call it from programs. */

/** All was done. */
export const done = 0

/** Something was refused or failed: an unknown job, a bad line, a port in use. The message says what. */
export const failed = 1

/** The command line cannot be understood. */
export const usage = 2

/** The server cannot be reached, is stopping, or did not answer in time. Trying again may help. */
export const unreachable = 3

/** The server refused the credentials, or they do not allow this. */
export const credentials = 4

/** By convention of shells: ended by a signal. */
export const signalled = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** The exit code of a program that `jobwire work` runs which fails its job at once (`EX_DATAERR` of sysexits). */
export const programFailsAtOnce = 65
