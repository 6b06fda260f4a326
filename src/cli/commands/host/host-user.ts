import { readlinkSync } from "node:fs";
import { agentHostOf } from "../../../approval/agent-hosts.ts";
import { parentOf } from "../../../approval/self-approval.ts";
import { callerParent } from "../../../core/caller.ts";

const MAX_DEPTH = 100;

/**
 * Reports whether the host that calls a hook can ask its user: it runs on a terminal, and was not started for a single
 * prompt. Gemini CLI would wait without end for an answer. True when the host is not found, as its event then tells.
 */
export function hostHasUser(): boolean {
  try {
    let pid = callerParent();
    for (let depth = 0; depth < MAX_DEPTH && pid > 1; depth++, pid = parentOf(pid)) {
      const host = agentHostOf(pid);
      // Processes between the host and the hook are recognized by a variable only.
      if (host?.by.startsWith("program ")) return !host.headless && isTerminal(readlinkSync(`/proc/${pid}/fd/0`));
    }
  } catch {
    return false; // the host has exited, or belongs to another user
  }
  return true;
}

function isTerminal(path: string): boolean {
  return /^\/dev\/(?:pts\/|tty)/.test(path);
}
