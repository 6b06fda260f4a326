import { userInfo } from "node:os";
import { isPersonName } from "../core/names.ts";

/** Returns the user that runs this process. Does not use `$USER`, which can be set to anything. */
export function localUser(): { who: string; channel: "cli" } {
  return { who: userName(), channel: "cli" };
}

/**
 * Returns the name of the user, or the uid if the user has no entry in /etc/passwd, as in some containers, or a name
 * with other characters than those of a person's name.
 */
function userName(): string {
  const uid = `uid ${process.getuid?.()}`;
  try {
    const { username } = userInfo();
    return isPersonName(username) ? username : uid;
  } catch {
    return uid;
  }
}

/** Throws when called inside a session, so that no command can approve itself (invariant 7). */
export async function assertPerson(): Promise<void> {
  const approval = await import("../approval/self-approval.ts");
  approval.assertPerson(approval.readAncestry(), null);
}
