import type { DatabaseSync } from "node:sqlite";
import type { AuditFilter } from "../storage/audit-entry.ts";
import { SessionStore } from "../storage/sessions.ts";
import { parseDuration } from "../text/format.ts";
import type { Invocation } from "./command.ts";
import { textOption } from "./options.ts";
import { UsageError } from "./usage-error.ts";

type Values = Invocation["values"];

/** Which entries the options of `audit` select. */
export function auditFilter(values: Values, text: string, database: DatabaseSync, nowMs: number): AuditFilter {
  const filter: AuditFilter = {};
  for (const name of ["agent", "kind", "outcome"] as const) {
    const value = textOption(values, name);
    if (value !== undefined) filter[name] = value;
  }
  for (const name of ["since", "until"] as const) {
    const value = textOption(values, name);
    if (value !== undefined) filter[name] = timeOf(name, value, nowMs);
  }
  const session = textOption(values, "session");
  if (session !== undefined) filter.session = sessionId(session, database);
  if (text !== "") filter.text = text;
  return filter;
}

/** The log outlives the sessions: one that is gone can still be asked for by its whole id. */
function sessionId(reference: string, database: DatabaseSync): string {
  const store = new SessionStore(database);
  const named = store.named(reference);
  if (named) return named.id;
  const matches = /^[0-9a-f-]+$/.test(reference) ? store.withPrefix(reference) : [];
  return matches.length === 1 && matches[0] ? matches[0].id : reference;
}

function timeOf(option: string, text: string, nowMs: number): number {
  const ago = parseDuration(text);
  const time = ago === null ? Date.parse(text) : nowMs - ago;
  if (Number.isNaN(time)) {
    const expected = "a duration ago such as 5m, or a time such as 2026-11-15T03:00:00Z";
    throw new UsageError(`\`--${option}\` must be ${expected}; received \`${text}\``);
  }
  return time;
}
