/** Two versions of one library under the same adapter: imports of packages are looked up in another folder. */
import { registerHooks } from "node:module"
import { pathToFileURL } from "node:url"
import { join } from "node:path"

const versioned = /^(effect|effect-mq|drizzle-orm|@effect\/sql-pg)(\/|$)/

/** From now on, the packages that come in versions are those of this folder. */
export const useDependenciesOf = (folder: string): void => {
  const parentURL = pathToFileURL(join(folder, "package.json")).href
  const peers = pathToFileURL(join(folder, "..")).href
  registerHooks({
    resolve: (specifier, context, next) => {
      // Imports within the packages find their own way.
      const ofAdapter = context.parentURL?.startsWith(peers) === true && !context.parentURL.includes("/node_modules/")
      return ofAdapter && versioned.test(specifier)
        ? next(specifier, { ...context, parentURL })
        : next(specifier, context)
    }
  })
}
