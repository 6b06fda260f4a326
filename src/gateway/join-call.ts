import type { RunOptions } from "../core/gateway.ts";
import type { RunResult } from "../core/result.ts";
import type { ExitRecord } from "../executor/execution.ts";
import type { Session } from "../session/session.ts";
import type { SessionRow } from "../storage/sessions.ts";
import type { GatewayContext } from "./context.ts";
import { reportProgress } from "./wait-for-exit.ts";

/** How long the result of a command that outlasted its call is kept for the same call. Later, the command runs again. */
const KEPT_MS = 10 * 60_000;

/** How many calls of this process wait for each session. */
const waiting = new WeakMap<GatewayContext["registry"], Map<string, number>>();

function waitingCalls({ registry }: GatewayContext): Map<string, number> {
  const own = waiting.get(registry) ?? new Map<string, number>();
  waiting.set(registry, own);
  return own;
}

/**
 * Returns the agent's session that outlasted this call and whose result the caller has not received, or null. If several
 * did, because identical calls were made at the same time, each of their repetitions gets one: the oldest session that
 * the fewest calls wait for.
 */
export function sessionOfCall(context: GatewayContext, call: string): SessionRow | null {
  const { registry, agent } = context;
  const calls = waitingCalls(context);
  const now = Date.now();
  // A session that ended in the future ended before the clock was set back, so how long ago is not known.
  const rows = registry.store.ofCall(agent, call, [now - KEPT_MS, now + KEPT_MS]);
  const [row = null] = rows.toSorted((one, other) => (calls.get(one.id) ?? 0) - (calls.get(other.id) ?? 0));
  return row && registry.reconcile(row);
}

/**
 * Waits for a command that outlasted an earlier call, and returns its result like that call would have. The result is
 * returned once.
 */
export async function joinCall(
  context: GatewayContext,
  row: SessionRow,
  session: Session,
  { signal, answerWithinMs, onProgress }: RunOptions,
): Promise<RunResult> {
  const { registry, executor } = context;
  const calls = waitingCalls(context);
  calls.set(row.id, (calls.get(row.id) ?? 0) + 1);
  const progress = onProgress ? reportProgress(context, row, onProgress) : undefined;
  try {
    await session.wait({
      ...(signal ? { signal } : {}),
      ...(answerWithinMs === undefined ? {} : { timeoutMs: answerWithinMs }),
    });
    const info = session.info();
    const running = info.status === "running";
    const { record } = registry.store.get(row.id) ?? row;
    const ending = running ? "detached" : record === null ? "lost" : (JSON.parse(record) as ExitRecord);
    const result = await executor.data(row).result(row.name, row, ending);
    if (!running) registry.store.setCall(row.id, null);
    // The record of the session has all warnings, which the result would repeat.
    return { ...result, warnings: info.warnings, hints: info.hints };
  } finally {
    clearInterval(progress);
    const others = (calls.get(row.id) ?? 1) - 1;
    if (others > 0) calls.set(row.id, others);
    else calls.delete(row.id);
  }
}
