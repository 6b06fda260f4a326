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
