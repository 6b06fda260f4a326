/** The command line itself is wrong. `main` adds where the help is. */
export class UsageError extends Error {}
