/** What is to be remembered. Secrets in `summary` and `detail` are masked as it is stored, whoever wrote them there. */
export interface NewAuditEntry {
  /** What happened: run, approval, stdin, signal, exit, config … */
  kind: string;
  /** Whose command it is about. */
  agent: string;
  session: string | null;
  /** Who did it: an agent, a person, the system. */
  actor: string;
  /** Through which surface. */
  channel: string;
  /** What came of it: allowed, blocked, denied, asked, completed … */
  outcome: string;
  /** One line for a person. */
  summary: string;
  /** Anything JSON can hold. */
  detail: object;
}

export interface AuditEntry extends NewAuditEntry {
  /** Counts from 1 without a gap. */
  seq: number;
  /** ISO 8601, to the millisecond. */
  at: string;
  /** Covers every field above and the hash of the entry before. */
  hash: string;
}

/** Which entries; all conditions must hold. */
export interface AuditFilter {
  agent?: string;
  session?: string;
  kind?: string;
  outcome?: string;
  /** ms since the epoch, inclusive. */
  since?: number;
  /** ms since the epoch, exclusive. */
  until?: number;
  /** Occurs in the summary or the detail; upper and lower case of ASCII letters are alike. */
  text?: string;
}

/** An entry as it is stored. */
export interface AuditRow extends Omit<NewAuditEntry, "detail"> {
  seq: number;
  at_ms: number;
  /** JSON. */
  detail: string;
  hash: string;
}

/** A row as callers see it. Never throws: a tampered row must still be shown, it is what one looks for. */
export function entryOf({ at_ms, detail, ...row }: AuditRow): AuditEntry {
  const { hash, seq, ...rest } = row;
  return { seq, at: timeOf(at_ms), ...rest, detail: parsed(detail), hash };
}

function timeOf(ms: unknown): string {
  const date = new Date(Number(ms));
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}

function parsed(text: unknown): object {
  try {
    const value: unknown = JSON.parse(String(text));
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Below.
  }
  return { unreadable: String(text) };
}
