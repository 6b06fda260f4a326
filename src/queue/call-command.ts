import type { RunRequest } from "../core/request.ts";
import type { RunResult } from "../core/result.ts";
import type { ClaimedItem } from "../storage/work-item.ts";
import { type DeliveryFailure, deliveryBody } from "./delivery.ts";

/** The gateway's `run`: nothing is spawned except through it (promise 1). */
export type Run = (request: RunRequest, options: { signal: AbortSignal }) => Promise<RunResult>;

/** Runs the command with the item on its stdin. Any end but exit code 0 is a failure. */
export async function callCommand(
  item: ClaimedItem,
  [command = "", ...args]: readonly string[],
  run: Run,
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<DeliveryFailure> {
  const request: RunRequest = {
    command,
    args,
    stdin: { text: `${deliveryBody(item)}\n` },
    timeoutMs: options.timeoutMs,
    intent: `Deliver work item ${item.key}`,
  };
  try {
    const { status, exitCode, signal, error } = await run(request, { signal: options.signal });
    if (status === "completed" && exitCode === 0) return null;
    return `the command ${error?.message ?? `ended as ${status}, ${signal ?? `exit code ${exitCode}`}`}`;
  } catch (error) {
    return `the command could not be run: ${(error as Error).message}`;
  }
}
