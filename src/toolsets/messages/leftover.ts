import { counted } from "../../text/counted.ts";
import type { Outcome } from "../message.ts";

/** What became of processes that outlived the command, unless they were ended with it anyway. */
export function leftoverMessage(outcome: Outcome): string | null {
  if (outcome.status !== "completed") return null;
  if ("lingering" in outcome && outcome.background) {
    return outcome.lingering ? "Processes it started live on; kill the session to end them." : null;
  }
  if (outcome.leftover === 0) return null;
  const were = outcome.leftover === 1 ? "was" : "were";
  return `${counted(outcome.leftover, "process", "processes")} it left running ${were} ended; use the background for what should live on.`;
}
