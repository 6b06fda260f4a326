import type { AuditFilter } from "./audit-entry.ts";

/** A filter as SQL. */
export function auditConditions(filter: AuditFilter): { where: string; values: (string | number)[] } {
  const parts: string[] = [];
  const values: (string | number)[] = [];
  const add = (sql: string, ...given: (string | number)[]) => {
    parts.push(sql);
    values.push(...given);
  };
  for (const name of ["agent", "session", "kind", "outcome"] as const) {
    const value = filter[name];
    if (value !== undefined) add(`${name} = ?`, value);
  }
  if (filter.since !== undefined) add("at_ms >= ?", filter.since);
  if (filter.until !== undefined) add("at_ms < ?", filter.until);
  if (filter.text) {
    // The detail is JSON: what is looked for stands there as JSON writes it.
    const inJson = JSON.stringify(filter.text).slice(1, -1);
    add("(summary LIKE ? ESCAPE '!' OR detail LIKE ? ESCAPE '!')", containing(filter.text), containing(inJson));
  }
  return { where: parts.length > 0 ? parts.join(" AND ") : "TRUE", values };
}

function containing(text: string): string {
  return `%${text.replace(/[!%_]/g, "!$&")}%`;
}
