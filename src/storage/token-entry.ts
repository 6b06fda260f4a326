import type { NewAuditEntry } from "./audit-entry.ts";
import type { Token } from "./tokens.ts";

/** What the audit is told of a token; never its secret. */
export function tokenEntry(
  { id, name, role, agent, expiresAt }: Token,
  outcome: "created" | "revoked",
  { who, channel }: { who: string; channel: string },
): NewAuditEntry {
  const detail = { id, role, expiresAt };
  return { kind: "token", agent, session: null, actor: who, channel, outcome, summary: `token ${name}`, detail };
}
