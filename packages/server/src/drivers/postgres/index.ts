export * as PostgresJobStore from "./PostgresJobStore.ts"
