import { readFileSync } from "node:fs";
import { SallyportError } from "../core/error.ts";
import type { RunRequest } from "../core/request.ts";
import type { RunResult } from "../core/result.ts";
import type { Settings } from "../core/settings.ts";
import { Dispatcher, type DispatchTarget } from "../queue/dispatch.ts";
import { refusedResult } from "../session/refusal.ts";
import type { GatewayContext } from "./context.ts";
import { submit } from "./submit.ts";
import { waitForExit } from "./wait-for-exit.ts";

/** What a gateway does by itself for as long as it is open; none of it keeps the process alive. */
export class Maintenance {
  readonly #timers: NodeJS.Timeout[] = [];
  #dispatcher: Dispatcher | null = null;

  every(ms: number, chore: () => void): void {
    this.#timers.push(setInterval(chore, ms).unref());
  }

  /** Tells the operator's callback of work items; null: nobody is to be told. */
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
    const message = `\`callback.${setting}\`: ${file} cannot be read (${(error as Error).message}).`;
    throw new SallyportError("InvalidConfiguration", message, [
      { action: "fix_configuration", hint: "Name a readable file that holds the secret." },
    ]);
  }
}

/** Tells whom the operator named of every work item, as long as this gateway is open. Null: nobody is named. */
export function createDispatcher({ callback }: Settings, context: GatewayContext): Dispatcher | null {
  if (!callback) return null;
  return new Dispatcher(context.work, targetOf(callback), {
    run: (request, how) => runByOperator(context, request, how),
  });
}

/** Through the one door (promise 1), but on the operator's word: an agent's modes and sandbox are not about it. */
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
