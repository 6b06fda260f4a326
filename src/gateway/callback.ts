import { readFileSync } from "node:fs";
import { SallyportError } from "../core/error.ts";
import type { RunRequest } from "../core/request.ts";
import type { RunResult } from "../core/result.ts";
import type { Settings } from "../core/settings.ts";
import { Dispatcher, type DispatchTarget } from "../queue/dispatch.ts";
import { refusedResult } from "../session/result.ts";
import { endOrYield } from "./foreground.ts";
import type { Rooms } from "./rooms.ts";
import { submit } from "./submit.ts";

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
export function callbackOf({ callback }: Settings, rooms: Rooms): Dispatcher | null {
  if (!callback) return null;
  return new Dispatcher(rooms.work, targetOf(callback), { run: (request, how) => runByOperator(rooms, request, how) });
}

/** Through the one door (promise 1), but on the operator's word: an agent's modes and sandbox are not about it. */
async function runByOperator(
  rooms: Rooms,
  request: RunRequest,
  { signal }: { signal?: AbortSignal },
): Promise<RunResult> {
  const manner = { background: false, byOperator: true, signal, patienceMs: 0 } as const;
  const submission = await submit(rooms, request, manner);
  if (!submission.execution) return refusedResult(submission, submission.refusal);
  const { name, session, execution } = submission;
  const ending = await endOrYield(rooms, session, execution, signal ? { signal } : {}, undefined);
  return rooms.executor.data(session).result(name, session, ending);
}
