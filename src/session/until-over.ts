import type { Execution } from "../executor/executor.ts";

/** A longer timer would go off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Waits for an event of a command, which keeps this process from ending meanwhile, but no longer than told. */
export async function untilOver(
  execution: Execution,
  event: Promise<unknown>,
  options: { timeoutMs?: number; signal?: AbortSignal },
): Promise<void> {
  const release = execution.hold();
  let timer: NodeJS.Timeout | undefined;
  let abort: (() => void) | undefined;
  const others: Promise<unknown>[] = [event];
  if (options.timeoutMs !== undefined) {
    others.push(
      new Promise((resolve) => {
        timer = setTimeout(resolve, Math.min(options.timeoutMs ?? 0, LONGEST_TIMER_MS));
      }),
    );
  }
  if (options.signal) {
    options.signal.throwIfAborted();
    others.push(
      new Promise<void>((resolve) => {
        abort = () => resolve();
        options.signal?.addEventListener("abort", abort, { once: true });
      }),
    );
  }
  await Promise.race(others);
  clearTimeout(timer);
  if (abort) options.signal?.removeEventListener("abort", abort);
  release();
  options.signal?.throwIfAborted();
}
