import type { BrokenMasks } from "../core/launch.ts";
import type { SandboxEnforcement } from "../core/sandbox-level.ts";
import { shownLine } from "../text/visible.ts";
import { networkText } from "./access.ts";
import { notEnforcedText } from "./not-enforced.ts";
import type { RepositoryFinding } from "./protected/git/inspect-repository.ts";
import { HARD_LINK, MOVED_AWAY, TRUNCATED } from "./protected/git/repository-index.ts";
import type { SandboxPlan } from "./sandbox.ts";
import type { SandboxSnapshot } from "./snapshot.ts";

type Labeled = Pick<SandboxSnapshot, "profile" | "network" | "level" | "notEnforced">;

/** Returns a short name of a sandbox, such as `workspace-write`, `isolated, network off` or `read-only, partial (ipc)`. */
export function sandboxLabel({ profile, network, level, notEnforced }: Labeled): string {
  const parts = [
    profile,
    ...(network === "on" ? [] : [networkText(network)]),
    ...(level === "partial" ? [`partial (${notEnforced.join(", ")})`] : []),
  ];
  return parts.join(", ");
}

/** Describes a sandbox to the approver. The approval is bound to this text (invariant 2). */
export function confinementText({ access, spec, sockets, confines, level, notEnforced }: SandboxPlan): string {
  const { profile, network } = access;
  const user = spec?.user ? `as user ${spec.user.uid}` : "with your privileges";
  if (confines && level === "none") return `none, because this machine cannot confine commands: runs ${user}`;
  if (profile === "off") {
    const net = network === "on" ? "" : `; ${networkText(network)}`;
    return `none: runs ${user}${net}`;
  }
  const own = spec?.binds.length ? "its private /tmp" : "its temporary directory";
  const paths = [...access.writable, ...(spec?.temporary ? [own] : [])];
  const writes = paths.length === 0 ? "cannot write files" : `can write only to ${paths.join(", ")}`;
  const missing = notEnforced.length === 0 ? [] : [`not enforced on this machine: ${notEnforcedText(notEnforced)}`];
  const reaches = sockets.length === 0 || network !== "on" ? [] : [`can connect to ${sockets.join(", ")}`];
  const runs = spec?.user ? [`runs ${user}`] : [];
  return [`${profile}: ${writes}`, networkText(network), ...reaches, ...runs, ...missing].join("; ");
}

/** Returns the warning about a sandbox of which only a part is enforced, or nothing. */
export function levelWarning({ level, notEnforced }: SandboxEnforcement): string {
  if (level === "none") return "sandbox: nothing confines commands on this machine";
  return notEnforcedWarning(notEnforced);
}

export function notEnforcedWarning(features: readonly string[]): string {
  return `sandbox: not fully enforced on this machine: ${notEnforcedText(features)}`;
}

/**
 * Returns the warning for protected paths created during the run: a path that does not exist cannot be mounted over.
 */
export function newProtectedPathsWarning(paths: readonly string[]): string {
  return `sandbox: the command created ${listed(paths)}, which other programs may execute outside the sandbox; inspect it before use`;
}

/** Returns the warning for masks that broke while a command ran. */
export function brokenMasksWarning(masks: BrokenMasks): string {
  const end = masks.reaction === "kill" ? "; the command was killed" : "";
  return `sandbox: ${brokenMasksText(masks)}${end}; inspect it before you use git or an editor there`;
}

/** Describes what happened to masks that broke, without the reaction to it. */
export function brokenMasksText({ paths, count }: Pick<BrokenMasks, "paths" | "count">): string {
  const was = count > 1 ? "were" : "was";
  return `${listed(paths, count)} ${was} created, replaced or moved while the command ran, and so lost the protection of the sandbox`;
}

function listed(paths: readonly string[], count = paths.length): string {
  const shown = paths.slice(0, 5).map(shownLine);
  return [...shown, ...(count > shown.length ? [`${count - shown.length} more`] : [])].join(", ");
}

const MAX_FINDINGS = 5;

/** Returns the warnings for what was found in the workspace after a command. */
export function repositoryFindingsWarnings(findings: readonly RepositoryFinding[]): string[] {
  return findings.length === 0 ? [] : [...findings.flatMap(singleWarning), ...programsWarning(findings)];
}

function singleWarning({ file, what }: RepositoryFinding): string[] {
  if (what === MOVED_AWAY) {
    return [`sandbox: the command created ${shownLine(file)}, which redirects git; it was renamed`];
  }
  if (what === TRUNCATED) {
    return [
      `sandbox: ${shownLine(file)} has too many folders or repositories to search; repositories in the rest are neither protected nor inspected`,
    ];
  }
  return what === HARD_LINK ? [hardLinkWarning(file)] : [];
}

/** Returns the warning for a file that is also in a package store or another project. */
function hardLinkWarning(file: string): string {
  return `sandbox: ${shownLine(file)} is a hard link; if its other name is outside the workspace, such as in a package store, commands can change that file too`;
}

function programsWarning(findings: readonly RepositoryFinding[]): string[] {
  const found = findings
    .filter(({ what }) => ![MOVED_AWAY, HARD_LINK, TRUNCATED].includes(what))
    .map(({ file, what }) => `${shownLine(file)} (${shownLine(what)})`);
  if (found.length === 0) return [];
  const more = found.length > MAX_FINDINGS ? ` and ${found.length - MAX_FINDINGS} more` : "";
  const named = `${found.slice(0, MAX_FINDINGS).join(", ")}${more}`;
  return [
    `sandbox: git runs programs or writes elsewhere because of ${named}; inspect the repository before you use it`,
  ];
}

export function rootWarning(): string {
  return "sandbox: commands run as root; set `user` in the operator's configuration to an unprivileged user (see docs/sandbox.md)";
}
