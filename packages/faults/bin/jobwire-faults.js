#!/usr/bin/env node
// Inside the repository the sources are run, so that no old build hides an edit; elsewhere the compiled code.
import { existsSync } from "node:fs"

// The published package does not hold this file.
const isInRepository = existsSync(new URL("../tsconfig.json", import.meta.url))

await import(isInRepository ? "../src/command/bin.ts" : "../dist/command/bin.js")
