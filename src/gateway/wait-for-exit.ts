import { LONGEST_TIMER_MS } from "../core/clock.ts";
import type { RunOptions } from "../core/gateway.ts";
import type { Execution, ExecutionOutcome } from "../executor/execution.ts";
import { killRequest } from "../session/signals.ts";
import type { NewSession } from "../storage/sessions.ts";
import { lastLine } from "../text/model-output.ts";
import type { GatewayContext } from "./context.ts";

const PROGRESS_EVERY_MS = 1000;
/** Of what was written last, so much is looked at for its last line. */
const LOOK_BACK_BYTES = 4096;
type Session = Pick<NewSession, "id" | "agent" | "capture">;

/** How long to wait for a person, and for the command from its start on, so that the answer comes in time. */
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

/** Waits for the end of a command; "detached": its caller would rather have it in the background by now. */
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
    // Aborted: it is being ended, and that is what to wait for. Ended meanwhile: there is nothing to move.
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

/** Aborting ends the command and everything it started. */
function endOnAbort(execution: Execution, signal: AbortSignal | undefined): () => void {
  if (!signal) return () => {};
  // Its host may give no answer; what becomes of it is told all the same.
  const end = () => void execution.kill(killRequest("SIGTERM", 2000)).catch(() => {});
  if (signal.aborted) end(); // while it was being launched: no event will tell of it
  signal.addEventListener("abort", end, { once: true });
  return () => signal.removeEventListener("abort", end);
}

function reportProgress(
  context: GatewayContext,
  session: Session,
  tell: NonNullable<RunOptions["onProgress"]>,
): NodeJS.Timeout {
  const began = performance.now();
  return setInterval(async () => {
    const elapsedMs = Math.round(performance.now() - began);
    try {
      tell({ elapsedMs, lastLine: lastLine(await context.executor.data(session).tail(LOOK_BACK_BYTES)) });
    } catch (error) {
      // Nobody's progress is worth a command.
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }, PROGRESS_EVERY_MS);
}
