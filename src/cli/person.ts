import { userInfo } from "node:os";

/** The person at the keyboard, as the system knows them: `$USER` can be set to anything. */
export function localUser(): { who: string; channel: "cli" } {
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

/** Only a person may do this: fails inside a session, so that no command can approve itself (promise 7). */
export async function assertPerson(): Promise<void> {
  const approval = await import("../approval/self-approval.ts");
  approval.assertPerson(approval.readAncestry(), null);
}
