/**
 * Milliseconds that only go forward. So does `performance.now()`, but the first to ask for that loads all of
 * `node:perf_hooks`, which takes longer than a policy does.
 */
export function uptimeMs(): number {
  return process.uptime() * 1000;
}
