import { SallyportError } from "../core/error.ts";
import type { SessionRow, SessionStore } from "../storage/sessions.ts";

const LIST = { action: "list_processes", hint: "`sallyport ps -a` lists all sessions." };

/**
 * A session by its id, its name, or a prefix of its id that no other has. With `agent`, those of others are as if they
 * did not exist: nobody learns from the answer whether they do.
 */
export function findSession(store: SessionStore, given: string, agent?: string): SessionRow {
  const reference = String(given);
  const exact = store.get(reference) ?? store.named(reference);
  if (exact && (agent === undefined || exact.agent === agent)) return exact;
  const matches = /^[0-9a-f-]+$/.test(reference) ? store.withPrefix(reference, agent) : [];
  if (matches.length > 1) throw ambiguous(reference);
  if (matches[0]) return matches[0];
  throw new SallyportError("SessionNotFound", `There is no session ${JSON.stringify(reference)}.`, [LIST]);
}

export function ambiguous(reference: string): SallyportError {
  const message = `${JSON.stringify(reference)} is the beginning of several ids.`;
  return new SallyportError("AmbiguousId", message, [
    { action: "use_longer_prefix", hint: "Give more of the id, or the session's name." },
    LIST,
  ]);
}
