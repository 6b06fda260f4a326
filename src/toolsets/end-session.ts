import { SallyportError } from "../core/error.ts";
import type { KillOptions } from "../core/gateway.ts";
import type { Session } from "../session/session.ts";

/** Ends a session. False: it had ended before, which is what was wanted. */
export async function endSession(session: Session, options: KillOptions = {}): Promise<boolean> {
  try {
    await session.kill(options);
    return true;
  } catch (error) {
    if (error instanceof SallyportError && error.type === "AlreadyExited") return false;
    throw error;
  }
}
