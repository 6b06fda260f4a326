import { basename } from "node:path";
import { SallyportError } from "../core/error.ts";
import type { SandboxSpec } from "../core/launch.ts";
import { nextStep } from "../core/next-step.ts";
import type { Reason, Security } from "../core/policy.ts";
import { isNetworkWithin, type Network } from "../core/settings.ts";
import type { Access, Profile } from "./access.ts";
import { networkText } from "./access.ts";
import { isInGitDirectory } from "./protected/protected-paths.ts";
import { isWithin } from "./workspace.ts";

/** Access that a request asks for beyond the configured sandbox. Each escalation requires approval. */
export type Escalation =
  | { rule: "sandbox-off" }
  | { rule: "sandbox-isolation" }
  | { rule: "sandbox-write"; paths: readonly string[] }
  | { rule: "sandbox-network"; network: Network };

/** Returns the escalations of a request. `lifted` contains the protected paths that it requests to write. */
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

/** Returns the reason why an escalation requires approval. */
export function escalationReason(escalation: Escalation): Reason {
  return { rule: escalation.rule, ...escalationText(escalation), span: null };
}

function escalationText(escalation: Escalation): Pick<Reason, "message" | "suggestion"> {
  switch (escalation.rule) {
    case "sandbox-off":
      return {
        message: "Requests to run without the sandbox.",
        suggestion: "Run it in the sandbox. To write to another path, request only that path.",
      };
    case "sandbox-isolation":
      return {
        message: "Requests to run without the configured isolation.",
        suggestion: "Run it with the configured isolation.",
      };
    case "sandbox-write":
      return {
        message: `Requests write access to ${escalation.paths.join(", ")}.`,
        suggestion: "Write to the workspace or /tmp.",
      };
    case "sandbox-network":
      return {
        message: `Requests more network access than configured: ${networkText(escalation.network)}.`,
        suggestion: "Run it with the configured network access.",
      };
  }
}

/**
 * Throws if the log file is in a denied path. The keeper writes the command's output to it from outside the sandbox, so
 * the command could otherwise write to paths that the sandbox denies (invariant 7).
 */
export function assertLogPath(logFile: string, { spec }: { spec: SandboxSpec | null }): void {
  if (!spec?.denied.some((place) => isWithin(logFile, place))) return;
  const message = `The path ${JSON.stringify(logFile)} in \`logFile\` is masked for every sandboxed command.`;
  throw new SallyportError("PathOutOfScope", message, [nextStep("check_scope", { name: "omit-log-file" })]);
}

interface Log {
  logFile?: string | null;
  /** The session's ID. It cannot be predicted, so Sallyport itself chose a log file with this name. */
  id?: string;
}

interface Strictness {
  sandbox: Profile;
  security: Security;
}

/**
 * Returns the escalations that a log file requires: for a protected path, for a path that a read-only command cannot
 * write, and in allowlist mode for any file, because a redirection to it would require approval too.
 */
export function logEscalations(
  { logFile, id }: Log,
  { spec }: { spec: SandboxSpec | null },
  { sandbox, security }: Strictness,
): Escalation[] {
  if (!logFile) return [];
  const asked: Escalation[] = [{ rule: "sandbox-write", paths: [logFile] }];
  if (spec?.readOnly.some((path) => isWithin(logFile, path))) return asked;
  // A repository may be new, and a file that git does not expect there may redirect it.
  if (spec && isInGitDirectory(logFile)) return asked;
  if (id !== undefined && basename(logFile) === `${id}.log`) return [];
  const nowhere = sandbox === "read-only" && !spec?.writable.some((place) => isWithin(logFile, place));
  return nowhere || security === "allowlist" ? asked : [];
}
