/** The longest delay of setTimeout: Node treats a longer one as 1 ms. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The longest deadline or grace period in a request: about 68 years. */
export const LONGEST_TIMEOUT_MS = 2_147_483_647_000;

/**
 * Returns monotonic milliseconds. `performance.now()` would do, but its first use loads `node:perf_hooks`, which takes
 * longer than evaluating a policy.
 */
export function uptimeMs(): number {
  return process.uptime() * 1000;
}

/**
 * Reports whether `withinMs` have passed since `askedMs`. An `askedMs` that is as far in the future counts too, because
 * the clock must have been set back.
 */
export function isOverdue(askedMs: number, withinMs: number): boolean {
  return Math.abs(Date.now() - askedMs) > withinMs;
}
