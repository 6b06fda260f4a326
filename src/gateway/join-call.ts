import type { RunOptions } from "../core/gateway.ts";
import type { RunResult } from "../core/result.ts";
import type { ExitRecord } from "../executor/execution.ts";
import type { Session } from "../session/session.ts";
import type { SessionRow } from "../storage/sessions.ts";
import type { GatewayContext } from "./context.ts";
import { reportProgress } from "./wait-for-exit.ts";

/** How long the result of a command that outlasted its call is kept for the same call. Later, the command runs again. */
const KEPT_MS = 10 * 60_000;

/** Returns the agent's session that outlasted this call and whose result the caller has not received, or null. */
export function sessionOfCall({ registry, agent }: GatewayContext, call: string): SessionRow | null {
  const row = registry.store.ofCall(agent, call, Date.now() - KEPT_MS);
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
  const progress = onProgress ? reportProgress(context, row, onProgress) : undefined;
  try {
    await session.wait({
      ...(signal ? { signal } : {}),
      ...(answerWithinMs === undefined ? {} : { timeoutMs: answerWithinMs }),
    });
  } finally {
    clearInterval(progress);
  }
  const info = session.info();
  const running = info.status === "running";
  const { record } = registry.store.get(row.id) ?? row;
  const ending = running ? "detached" : record === null ? "lost" : (JSON.parse(record) as ExitRecord);
  const result = await executor.data(row).result(row.name, row, ending);
  if (!running) registry.store.setCall(row.id, null);
  // The record of the session has all warnings, which the result would repeat.
  return { ...result, warnings: info.warnings, hints: info.hints };
}
