/** Problems with files, in words. */
import type { PlatformError } from "effect"

const words: Readonly<Record<string, string>> = {
  NotFound: "it is not there",
  PermissionDenied: "this user may not do that",
  AlreadyExists: "there is a file of that name",
  Busy: "something else uses it"
}

/** What is wrong, to stand behind the name of the file and a colon. */
export const fileProblem = ({ reason }: PlatformError.PlatformError): string => words[reason._tag] ?? reason.message
