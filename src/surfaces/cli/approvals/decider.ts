import { userInfo } from "node:os";

/** The person at the keyboard, as the system knows them: `$USER` can be set to anything. */
export function decider(): { who: string; channel: "cli" } {
  return { who: userInfo().username, channel: "cli" };
}
