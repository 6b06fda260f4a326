import { basename } from "node:path";
import { SallyportError } from "../core/error.ts";
import type { SandboxSpec } from "../core/launch.ts";
import type { Reason, Security } from "../core/policy.ts";
import { isNetworkWithin, type Network } from "../core/settings.ts";
import type { Access, Profile } from "./access.ts";
import { networkText } from "./access.ts";
import { isWithin } from "./workspace.ts";

/** In what a request asks for more than is configured. Each needs a person's word. */
export type Escalation =
  | { rule: "sandbox-off" }
  | { rule: "sandbox-isolation" }
  | { rule: "sandbox-write"; paths: readonly string[] }
  | { rule: "sandbox-network"; network: Network };

/** `lifted`: protected paths that it asks to write. */
export function escalationsOf(asked: Access, configured: Access, lifted: readonly string[]): Escalation[] {
  const found: Escalation[] = [];
  if (asked.profile === "off") {
    if (configured.profile !== "off") found.push({ rule: "sandbox-off" });
  } else {
    if (configured.profile === "isolated" && asked.profile !== "isolated") {
      found.push({ rule: "sandbox-isolation" });
    }
    const paths = asked.writable.filter((path) => !configured.writable.some((root) => isWithin(path, root)));
    if (configured.profile !== "off" && (paths.length > 0 || lifted.length > 0)) {
      found.push({ rule: "sandbox-write", paths: [...new Set([...paths, ...lifted])] });
    }
  }
  if (!isNetworkWithin(asked.network, configured.network)) {
    found.push({ rule: "sandbox-network", network: asked.network });
  }
  return found;
}

/** Why a request that asks for more than is configured needs a person. */
export function escalationReason(escalation: Escalation): Reason {
  return { rule: escalation.rule, ...escalationText(escalation), span: null };
}

function escalationText(escalation: Escalation): Pick<Reason, "message" | "suggestion"> {
  switch (escalation.rule) {
    case "sandbox-off":
      return {
        message: "It asks to run without the sandbox.",
        suggestion: "Leave `sandbox` out; if it must write to one more place, ask for that alone with `writable`.",
      };
    case "sandbox-isolation":
      return {
        message: "It asks to leave the isolation that is configured here.",
        suggestion: "Leave `sandbox` out.",
      };
    case "sandbox-write":
      return {
        message: `It asks to write to ${escalation.paths.join(", ")}.`,
        suggestion: "Write in the workspace or in $TMPDIR.",
      };
    case "sandbox-network":
      return {
        message: `It asks for more of the network than is configured here: ${networkText(escalation.network)}.`,
        suggestion: "Leave `network` out.",
      };
  }
}

/**
 * The keeper writes a command's log from outside the sandbox, with whatever the command prints: no log goes where the
 * command itself could not write, or it would be a way round (promise 7).
 */
export function assertLogPath(logFile: string, { spec }: { spec: SandboxSpec | null }): void {
  if (!spec?.denied.some((place) => isWithin(logFile, place))) return;
  const message = `The path ${JSON.stringify(logFile)} in \`logFile\` is masked for every sandboxed command.`;
  throw new SallyportError("PathOutOfScope", message, [
    { action: "check_scope", hint: "Use another path, or omit `logFile`." },
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
 * In what a log asks for more than is configured: a path that stays read-only, anything where nothing is written, and
 * with an allowlist any file, since a redirection to it would be asked about as well.
 */
export function logEscalations(
  { logFile, id }: Log,
  { spec }: { spec: SandboxSpec | null },
  { sandbox, security }: Strictness,
): Escalation[] {
  if (!logFile) return [];
  const asked: Escalation[] = [{ rule: "sandbox-write", paths: [logFile] }];
  if (spec?.readOnly.some((path) => isWithin(logFile, path))) return asked;
  if (id !== undefined && basename(logFile) === `${id}.log`) return [];
  const nowhere = sandbox === "read-only" && !spec?.writable.some((place) => isWithin(logFile, place));
  return nowhere || security === "allowlist" ? asked : [];
}
