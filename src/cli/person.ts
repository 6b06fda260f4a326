import { userInfo } from "node:os";

/** The person at the keyboard, as the system knows them: `$USER` can be set to anything. */
export function decider(): { who: string; channel: "cli" } {
  return { who: userName(), channel: "cli" };
}

/** A container may run as a user that no file knows by a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
