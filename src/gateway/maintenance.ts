import { readFileSync } from "node:fs";
import { SallyportError } from "../core/error.ts";
import type { RunRequest } from "../core/request.ts";
import type { RunResult } from "../core/result.ts";
import type { Settings } from "../core/settings.ts";
import { Dispatcher, type DispatchTarget } from "../queue/dispatch.ts";
import { refusedResult } from "../session/refusal.ts";
import type { Removal } from "../session/retention.ts";
import type { AuditLog } from "../storage/audit.ts";
import { isDiskFull } from "../storage/database.ts";
import { formatSize } from "../text/format.ts";
import type { GatewayContext } from "./context.ts";
import { submit } from "./submit.ts";
import { waitForExit } from "./wait-for-exit.ts";

/** Background tasks of an open gateway. None of them keeps the process alive. */
export class Maintenance {
  readonly #timers: NodeJS.Timeout[] = [];
  #dispatcher: Dispatcher | null = null;

  every(ms: number, chore: () => void): void {
    this.#timers.push(setInterval(chore, ms).unref());
  }

  /** Starts delivering work items to the operator's callback. Does nothing if `dispatcher` is null. */
  callBack(dispatcher: Dispatcher | null): void {
    this.#dispatcher = dispatcher;
    dispatcher?.start();
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#dispatcher?.stop();
  }
}

function targetOf(callback: NonNullable<Settings["callback"]>): DispatchTarget {
  const { command, webhook, dbos } = callback;
  const target: DispatchTarget = command ? { command } : {};
  if (webhook) target.webhook = { url: webhook.url, secret: readSecret("webhook.secretFile", webhook.secretFile) };
  if (dbos) {
    const { urlFile, ...queue } = dbos;
    target.dbos = { ...queue, databaseUrl: readSecret("dbos.urlFile", urlFile) };
  }
  return target;
}

function readSecret(setting: string, file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const message = `Cannot read ${file}, set by \`callback.${setting}\` (${(error as Error).message}).`;
    throw new SallyportError("InvalidConfiguration", message, [
      { action: "fix_configuration", hint: `Set \`callback.${setting}\` to a readable file that contains the secret.` },
    ]);
  }
}

/** Returns a dispatcher for the configured callback, or null when none is configured. */
export function createDispatcher({ callback }: Settings, context: GatewayContext): Dispatcher | null {
  if (!callback) return null;
  return new Dispatcher(context.work, targetOf(callback), {
    run: (request, how) => runByOperator(context, request, how),
  });
}

/** Runs the operator's callback command through `submit` (invariant 1), without the agent's modes and sandbox. */
async function runByOperator(
  context: GatewayContext,
  request: RunRequest,
  { signal }: { signal?: AbortSignal },
): Promise<RunResult> {
  const submitOptions = { background: false, byOperator: true, signal, approvalTimeoutMs: 0 } as const;
  const submission = await submit(context, request, submitOptions);
  if (!submission.execution) return refusedResult(submission, submission.refusal);
  const { name, session, execution } = submission;
  const ending = await waitForExit(context, session, execution, signal ? { signal } : {}, undefined);
  return context.executor.data(session).result(name, session, ending);
}

/** The maximum number of session IDs in an audit entry. */
const MOST_LISTED = 1000;

/** Records which sessions a cleanup removed, one entry per agent. On a full disk there may be no space for it. */
export function auditRemovals(
  audit: AuditLog,
  removals: readonly Removal[],
  { actor, channel }: { actor: string; channel: string },
): void {
  for (const { agent, sessions, freedBytes } of removals) {
    const count = sessions.length;
    ifSpaceLeft(() =>
      audit.append({
        kind: "remove",
        agent,
        session: null,
        actor,
        channel,
        outcome: "removed",
        summary: `removed ${count} finished ${count === 1 ? "session" : "sessions"} (${formatSize(freedBytes)} of logs)`,
        detail: { sessions: sessions.slice(0, MOST_LISTED), count, freedBytes },
      }),
    );
  }
}

function ifSpaceLeft(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}
