import type { RunOptions, StartOptions } from "../core/gateway.ts";
import type { CallContext } from "./tool.ts";

/** What a caller's patience and signal mean for a foreground command. */
export function runOptions({ signal, patienceMs, onProgress }: CallContext): RunOptions {
  return {
    ...(signal ? { signal } : {}),
    ...(patienceMs === undefined ? {} : { answerWithinMs: patienceMs }),
    ...(onProgress ? { onProgress } : {}),
  };
}

export function startOptions({ signal, patienceMs }: CallContext): StartOptions {
  return { ...(signal ? { signal } : {}), ...(patienceMs === undefined ? {} : { approvalTimeoutMs: patienceMs }) };
}
