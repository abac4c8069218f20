/** The suite that proves a job store: for drivers, servers and clients alike. */
export { jobStoreConformance } from "./jobStoreConformance.ts"
