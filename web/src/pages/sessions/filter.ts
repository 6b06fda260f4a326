import type { Status } from "../../../../src/core/result.ts";
import type { SessionInfo } from "../../../../src/core/session.ts";
import { commandLine } from "../../../../src/text/command-line.ts";

export type Kind = "all" | "running" | "pending" | "failed" | "blocked";

export const KINDS: { kind: Kind; name: string; title: string }[] = [
  { kind: "all", name: "All", title: "All sessions" },
  { kind: "running", name: "Running", title: "Running, in the foreground or background" },
  { kind: "pending", name: "Pending", title: "Waiting for approval" },
  { kind: "failed", name: "Failed", title: "Failed, timed out, killed, lost or exited with a non-zero code" },
  { kind: "blocked", name: "Blocked", title: "Blocked or denied" },
];

/** Names that older links use. */
const RENAMED: Record<string, Kind> = { waiting: "pending", trouble: "failed", refused: "blocked" };

export function kindNamed(name: string | null): Kind {
  return KINDS.find(({ kind }) => kind === name)?.kind ?? RENAMED[name ?? ""] ?? "all";
}

const FAILED: readonly Status[] = ["failed", "timed_out", "killed", "lost"];

export function isOfKind(info: SessionInfo, kind: Kind): boolean {
  switch (kind) {
    case "all":
      return true;
    case "running":
      return info.status === "running" || info.lingering;
    case "pending":
      return info.status === "pending";
    case "failed":
      return FAILED.includes(info.status) || (info.status === "completed" && info.exitCode !== 0);
    case "blocked":
      return info.status === "blocked" || info.status === "denied";
  }
}

/** Returns a filter that requires every word of the text to occur in the command, name, agent, folder, host or ID. */
export function matcher(text: string): (info: SessionInfo) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return () => true;
  return (info) => {
    const heap = [commandLine(info.command, info.args), info.name, info.agent, info.cwd, info.id, info.host ?? ""]
      .join("\n")
      .toLowerCase();
    return words.every((word) => heap.includes(word));
  };
}
