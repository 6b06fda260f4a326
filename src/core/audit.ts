/** An entry to append to the audit log. Secrets in `summary` and `detail` are masked when it is stored. */
export interface NewAuditEntry {
  /** The kind of event: run, approval, stdin, signal, exit, config … */
  kind: string;
  /** The agent whose command the entry is about. */
  agent: string;
  session: string | null;
  /** The actor: an agent, a person or the system. */
  actor: string;
  /** The surface that was used. */
  channel: string;
  /** The outcome: allowed, blocked, denied, asked, completed … */
  outcome: string;
  /** A one-line description for people. */
  summary: string;
  /** Any JSON object. */
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
