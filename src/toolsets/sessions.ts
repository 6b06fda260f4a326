import { SallyportError } from "../core/error.ts";
import type { KillOptions } from "../core/gateway.ts";
import type { SessionInfo } from "../core/session.ts";
import type { Session } from "../session/session.ts";

export const DEFAULT_LINES = 200;
export const MAX_LINES = 5000;

/** Returns the duration of a session in whole milliseconds. Null when it ended at an unknown time. */
export function durationField({ durationMs }: Pick<SessionInfo, "durationMs">): number | null {
  return durationMs === null ? null : Math.round(durationMs);
}

/** Terminates a session. Returns false when it had already ended. */
export async function endSession(session: Session, options: KillOptions = {}): Promise<boolean> {
  try {
    await session.kill(options);
    return true;
  } catch (error) {
    if (error instanceof SallyportError && error.type === "AlreadyExited") return false;
    throw error;
  }
}
