/** The longest delay of setTimeout: Node treats a longer one as 1 ms. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The longest deadline or grace period that a caller may ask for: about 68 years. */
export const LONGEST_TIMEOUT_MS = 2_147_483_647_000;

/**
 * Milliseconds that only go forward. So does `performance.now()`, but the first to ask for that loads all of
 * `node:perf_hooks`, which takes longer than a policy does.
 */
export function uptimeMs(): number {
  return process.uptime() * 1000;
}

/** Whether `withinMs` have passed since `askedMs`. A time far in the future counts too: the clock was set back. */
export function isOverdue(askedMs: number, withinMs: number): boolean {
  return Math.abs(Date.now() - askedMs) > withinMs;
}
