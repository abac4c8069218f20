/** The published packages, each before those that need it. */
import { fileURLToPath } from "node:url"

/** The folder of the repository. */
export const root = fileURLToPath(new URL("..", import.meta.url))

/** Folder names below `packages/`, in the order of their dependencies. */
export const packages = ["protocol", "server", "client", "cli", "faults"] as const
