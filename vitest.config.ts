import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { conditions: ["jobwire:source", "node", "import", "default"] },
  ssr: { resolve: { conditions: ["jobwire:source", "node", "import", "default"] } },
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/support/postgres/global-setup.ts"],
    // More than there are cores: most files wait for a database or for processes.
    maxWorkers: 3,
    testTimeout: 30_000,
    // Hooks start processes, which takes long on a busy machine.
    hookTimeout: 60_000
  }
})
