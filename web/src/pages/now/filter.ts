import type { Status } from "../../../../src/core/result.ts";
import type { SessionInfo } from "../../../../src/core/session.ts";
import { commandLine } from "../../../../src/text/command-line.ts";

export type Kind = "all" | "running" | "waiting" | "trouble" | "refused";

export const KINDS: { kind: Kind; name: string }[] = [
  { kind: "all", name: "All" },
  { kind: "running", name: "Running" },
  { kind: "waiting", name: "Waiting" },
  { kind: "trouble", name: "Went wrong" },
  { kind: "refused", name: "Refused" },
];

const TROUBLE: readonly Status[] = ["failed", "timed_out", "killed", "lost"];

export function isOfKind(info: SessionInfo, kind: Kind): boolean {
  switch (kind) {
    case "all":
      return true;
    case "running":
      return info.status === "running" || info.lingering;
    case "waiting":
      return info.status === "pending";
    case "trouble":
      return TROUBLE.includes(info.status) || (info.status === "completed" && info.exitCode !== 0);
    case "refused":
      return info.status === "blocked" || info.status === "denied";
  }
}

/** Every word must occur somewhere: in the command, name, agent, folder, host or id. */
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
