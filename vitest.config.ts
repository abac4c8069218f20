import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { conditions: ["jobwire:source", "node", "import", "default"] },
  ssr: { resolve: { conditions: ["jobwire:source", "node", "import", "default"] } },
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/support/postgres/global-setup.ts"],
    // More than there are cores: most files wait for a database or for processes.
    maxWorkers: 3,
    // A test ends by what it waits for; this is for a machine so busy that nothing moves.
    testTimeout: 90_000,
    // Hooks start processes, which takes long there.
    hookTimeout: 120_000
  }
})
