export interface AuditAsked {
  q: string;
  kind: string;
  agent: string;
  /** The time range in hours; empty for all entries. */
  hours: string;
}

export const KINDS = ["run", "exit", "approval", "grant", "stdin", "signal", "sign-in", "token", "config", "gateway"];

export const SPANS: { hours: string; name: string }[] = [
  { hours: "", name: "Any time" },
  { hours: "1", name: "Last hour" },
  { hours: "24", name: "Last 24 hours" },
  { hours: "168", name: "Last 7 days" },
];

/** Returns the query parameters of the API for a filter. */
export function auditQuery({ q, kind, agent, hours }: AuditAsked): Record<string, string | number | undefined> {
  const since = hours === "" ? {} : { since: Date.now() - Number(hours) * 3_600_000 };
  return { q, kind, agent, ...since };
}
