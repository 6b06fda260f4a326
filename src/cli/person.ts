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

/**
 * Throws unless a person uses this process, so that an agent cannot loosen anything with the shell of its host or in a
 * background process (invariant 7).
 */
export async function assertAttended(): Promise<void> {
  await assertPerson();
  const attendance = await import("../approval/attendance.ts");
  attendance.assertAttended();
}

/** Throws inside a session and below an agent host. A script may do the rest. */
export async function assertNoAgentHost(): Promise<void> {
  await assertPerson();
  const { assertAttended, readAttendance } = await import("../approval/attendance.ts");
  const attendance = readAttendance();
  if (attendance.kind === "host") assertAttended(attendance);
}
