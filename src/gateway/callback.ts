import { readFileSync } from "node:fs";
import type { Settings } from "../config/settings.ts";
import { SallyportError } from "../contract/error.ts";
import type { RunRequest } from "../contract/request.ts";
import type { RunResult } from "../contract/result.ts";
import type { WorkQueue } from "../store/work.ts";
import { Dispatcher, type DispatchTarget } from "../work/dispatch.ts";

function targetOf(callback: NonNullable<Settings["callback"]>): DispatchTarget {
  const { command, webhook } = callback;
  const target: DispatchTarget = command ? { command } : {};
  if (webhook) target.webhook = { url: webhook.url, secret: readSecret(webhook.secretFile) };
  return target;
}

function readSecret(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const message = `\`callback.webhook.secretFile\`: ${file} cannot be read (${(error as Error).message}).`;
    throw new SallyportError("InvalidConfiguration", message, [
      { action: "fix_configuration", hint: "Name a readable file that holds the secret." },
    ]);
  }
}

/** Tells whom the operator named of every work item, as long as this gateway is open. Null: nobody is named. */
export function callbackOf(
  { callback }: Settings,
  work: WorkQueue,
  run: (request: RunRequest, options: { signal?: AbortSignal }) => Promise<RunResult>,
): Dispatcher | null {
  return callback ? new Dispatcher(work, targetOf(callback), { run }) : null;
}
