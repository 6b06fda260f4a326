import { formatDuration } from "../../text/duration.ts";
import type { Outcome } from "../message.ts";

export function timeoutMessage(outcome: Outcome, timeoutMs?: number): string {
  const deadline = timeoutMs ?? ("timeoutMs" in outcome ? outcome.timeoutMs : outcome.durationMs);
  return (
    `Timed out after ${formatDuration(deadline)} and was ended with all it had started; its output so far is kept. ` +
    "Run it again with a longer timeout, or in the background."
  );
}
