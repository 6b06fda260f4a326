export interface AuditAsked {
  q: string;
  kind: string;
  agent: string;
  /** How far back, in hours; "": all of it. */
  hours: string;
}

export const KINDS = ["run", "exit", "approval", "grant", "stdin", "signal", "sign-in", "token", "config", "gateway"];

export const SPANS: { hours: string; name: string }[] = [
  { hours: "", name: "Ever" },
  { hours: "1", name: "Last hour" },
  { hours: "24", name: "Last day" },
  { hours: "168", name: "Last week" },
];

/** As the service wants it. */
export function auditQuery({ q, kind, agent, hours }: AuditAsked): Record<string, string | number | undefined> {
  const since = hours === "" ? {} : { since: Date.now() - Number(hours) * 3_600_000 };
  return { q, kind, agent, ...since };
}
