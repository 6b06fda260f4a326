import { LONGEST_TIMER_MS } from "../core/clock.ts";
import type { RunOptions } from "../core/gateway.ts";
import type { Execution, ExecutionOutcome } from "../executor/execution.ts";
import { killRequest } from "../session/signals.ts";
import type { NewSession } from "../storage/sessions.ts";
import { lastLine } from "../text/model-output.ts";
import type { GatewayContext } from "./context.ts";

const PROGRESS_EVERY_MS = 1000;
/** How many bytes at the end of the output are searched for the last line. */
const LAST_LINE_BYTES = 4096;

type Session = Pick<NewSession, "id" | "agent" | "capture">;

/**
 * Returns how long to wait for approval, and then for the command, so that the result is returned within
 * `answerWithinMs`.
 */
export function waitTimes({ approvalTimeoutMs, yieldMs, answerWithinMs }: RunOptions) {
  const began = performance.now();
  const least = (...times: (number | undefined)[]) =>
    times.reduce((a, b) => (a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)));
  return {
    forPerson: least(approvalTimeoutMs, answerWithinMs),
    forCommand: () =>
      least(yieldMs, answerWithinMs && Math.max(0, answerWithinMs - Math.floor(performance.now() - began))),
  };
}

/** Waits until a command exits. After `yieldMs` it moves the command to the background and returns "detached". */
export async function waitForExit(
  context: GatewayContext,
  session: Session,
  execution: Execution,
  { signal, onProgress }: RunOptions,
  yieldMs: number | undefined,
): Promise<ExecutionOutcome> {
  const release = execution.hold();
  const stop = endOnAbort(execution, signal);
  const still = onProgress ? reportProgress(context, session, onProgress) : undefined;
  try {
    if (yieldMs === undefined) return await execution.exited;
    const ending = await exitWithin(execution, yieldMs);
    // An aborted command is being terminated, so wait for its exit. A command that has just exited cannot be moved.
    if (ending || signal?.aborted || !context.registry.toBackground(execution))
      return ending ?? (await execution.exited);
    await execution.toBackground();
    await execution.started;
    return "detached";
  } finally {
    clearInterval(still);
    stop();
    release();
  }
}

async function exitWithin(execution: Execution, ms: number): Promise<ExecutionOutcome | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, LONGEST_TIMER_MS), null);
  });
  try {
    return await Promise.race([execution.exited, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Terminates the command and its child processes when `signal` aborts. Returns a function that stops listening. */
function endOnAbort(execution: Execution, signal: AbortSignal | undefined): () => void {
  if (!signal) return () => {};
  // A host that does not respond is not an error here: the exit is reported separately.
  const end = () => void execution.kill(killRequest("SIGTERM", 2000)).catch(() => {});
  if (signal.aborted) end(); // Aborted during the launch, so there will be no event.
  signal.addEventListener("abort", end, { once: true });
  return () => signal.removeEventListener("abort", end);
}

/** Reports the last line of output regularly. Returns the timer. */
export function reportProgress(
  context: GatewayContext,
  session: Session,
  tell: NonNullable<RunOptions["onProgress"]>,
): NodeJS.Timeout {
  const began = performance.now();
  return setInterval(async () => {
    const elapsedMs = Math.round(performance.now() - began);
    try {
      tell({ elapsedMs, lastLine: lastLine(await context.executor.data(session).tail(LAST_LINE_BYTES)) });
    } catch (error) {
      // A failing progress listener must not affect the command.
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }, PROGRESS_EVERY_MS);
}
