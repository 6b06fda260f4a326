import { basename } from "node:path";
import { SallyportError } from "../core/error.ts";
import type { Security } from "../core/verdict.ts";
import type { Loosening } from "./escalation.ts";
import type { Profile } from "./profile.ts";
import type { Sandboxed } from "./sandbox.ts";
import { isWithin } from "./workspace.ts";

/**
 * The keeper writes a command's log from outside the sandbox, with whatever the command prints: no log goes where the
 * command itself could not write, or it would be a way round (promise 7).
 */
export function insistOnLogPlace(logFile: string, { spec }: Pick<Sandboxed, "spec">): void {
  if (!spec?.denied.some((place) => isWithin(logFile, place))) return;
  throw new SallyportError("PathOutOfScope", `\`logFile\`: ${logFile} is denied to every confined command.`, [
    { action: "check_scope", hint: "Name another place for the log, or leave `logFile` out." },
  ]);
}

interface Log {
  logFile?: string | null;
  /** The session's: nobody can name a file after it beforehand, so one that is named so is Sallyport's own. */
  id?: string;
}

interface Strictness {
  sandbox: Profile;
  security: Security;
}

/**
 * In what a log asks for more than is configured: a spot that stays read-only, anything where nothing is written, and
 * with an allowlist any file, since a redirection to it would be asked about as well.
 */
export function logLoosening(
  { logFile, id }: Log,
  { spec }: Pick<Sandboxed, "spec">,
  { sandbox, security }: Strictness,
): Loosening[] {
  if (!logFile) return [];
  const asked: Loosening[] = [{ rule: "sandbox-write", paths: [logFile] }];
  if (spec?.readOnly.some((spot) => isWithin(logFile, spot))) return asked;
  if (id !== undefined && basename(logFile) === `${id}.log`) return [];
  const nowhere = sandbox === "read-only" && !spec?.writable.some((place) => isWithin(logFile, place));
  return nowhere || security === "allowlist" ? asked : [];
}
