import type { NewAuditEntry } from "../../src/storage/audit-entry.ts";

/** An entry where only what a test is about has to be said. */
export function newEntry(entry: Partial<NewAuditEntry> = {}): NewAuditEntry {
  return {
    kind: "run",
    agent: "default",
    session: null,
    actor: "agent default",
    channel: "library",
    outcome: "allowed",
    summary: "ls",
    detail: {},
    ...entry,
  };
}
