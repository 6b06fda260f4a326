import { userInfo } from "node:os";

/** Returns the user that runs this process. Does not use `$USER`, which can be set to anything. */
export function localUser(): { who: string; channel: "cli" } {
  return { who: userName(), channel: "cli" };
}

/** Returns the name of the user, or the uid if the user has no entry in /etc/passwd, as in some containers. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

/** Throws when called inside a session, so that no command can approve itself (invariant 7). */
export async function assertPerson(): Promise<void> {
  const approval = await import("../approval/self-approval.ts");
  approval.assertPerson(approval.readAncestry(), null);
}
