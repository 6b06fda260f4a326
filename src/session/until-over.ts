import { LONGEST_TIMER_MS } from "../core/clock.ts";
import type { Execution } from "../executor/executor.ts";

/** Waits for an event of a command, which keeps this process from ending meanwhile, but no longer than told. */
export async function untilOver(
  execution: Pick<Execution, "hold">,
  event: Promise<unknown>,
  { timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal },
): Promise<void> {
  const release = execution.hold();
  let timer: NodeJS.Timeout | undefined;
  let enough = () => {};
  const called = new Promise<void>((resolve) => {
    enough = resolve;
  });
  if (timeoutMs !== undefined) timer = setTimeout(enough, Math.min(timeoutMs, LONGEST_TIMER_MS));
  signal?.addEventListener("abort", enough, { once: true });
  if (signal?.aborted) enough();
  try {
    await Promise.race([event, called]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", enough);
    release();
  }
  signal?.throwIfAborted();
}
