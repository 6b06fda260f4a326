/** An entry to append to the audit log. Secrets in `summary` and `detail` are masked when it is stored. */
export interface NewAuditEntry {
  /** The kind of event, such as `run`, `approval`, `stdin`, `signal`, `exit` or `config`. */
  kind: string;
  /** The agent whose command the entry is about. */
  agent: string;
  /** The ID of the session. Null when the entry is not about a session. */
  session: string | null;
  /** The name of the agent or person that acted, or `sallyport`. */
  actor: string;
  /** The surface that was used, such as `cli`, `mcp` or `library`. */
  channel: string;
  /** The outcome, such as `allowed`, `blocked`, `denied`, `asked` or `completed`. */
  outcome: string;
  /** A one-line description for people. */
  summary: string;
  /** Details that depend on the kind. Any JSON object. */
  detail: object;
}

/**
 * An entry of the audit log.
 *
 * @example
 * ```ts
 * await gateway.run({ command: "true" });
 * for (const entry of gateway.audit.tail(10)) console.log(entry.seq, entry.at, entry.kind, entry.outcome);
 * ```
 */
export interface AuditEntry extends NewAuditEntry {
  /** The sequence number, which starts at 1 and has no gaps. */
  seq: number;
  /** The time, with milliseconds (ISO 8601). */
  at: string;
  /** A hash of the other fields and of the previous entry's hash. */
  hash: string;
}

/**
 * A filter for audit entries. An entry must meet all conditions.
 *
 * @example
 * ```ts
 * await gateway.run({ command: "rm -rf /" });
 * const [entry] = gateway.audit.search({ kind: "run", outcome: "blocked", since: Date.now() - 3_600_000 });
 * console.log(entry?.summary); // rm -rf /
 * ```
 */
export interface AuditFilter {
  /** Only entries about this agent's commands. */
  agent?: string;
  /** Only entries about the session with this ID. */
  session?: string;
  /** Only entries of this kind. */
  kind?: string;
  /** Only entries with this outcome. */
  outcome?: string;
  /** Only entries at or after this time, in milliseconds since the epoch. */
  since?: number;
  /** Only entries before this time, in milliseconds since the epoch. */
  until?: number;
  /** Only entries whose summary or detail contains this text. ASCII letters match in either case. */
  text?: string;
}
