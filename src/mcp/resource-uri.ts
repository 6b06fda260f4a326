// URIs of sessions and their logs: `sallyport://session/ID`, `sallyport://session/ID/stdout?offset=0&limit=65536`.
export const LOGS = ["stdout", "stderr", "output"] as const;
export type Log = (typeof LOGS)[number];
/** Resources of a session other than the session itself. Only sessions on a terminal have a screen. */
export const PARTS = [...LOGS, "screen"] as const;
export type Part = (typeof PARTS)[number];

export interface Address {
  id: string;
  /** Null for the session itself. */
  part: Part | null;
  offset: number | null;
  limit: number | null;
}

// Matches only complete IDs: an error about an ambiguous prefix would reveal sessions of other agents.
const ADDRESS =
  /^sallyport:\/\/session\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:\/(stdout|stderr|output|screen))?(?:\?(.*))?$/;

/** Parses a resource URI; returns null when it is invalid. */
export function parseResourceUri(uri: string): Address | null {
  const [, id, part, query] = ADDRESS.exec(uri) ?? [];
  if (id === undefined) return null;
  const given = new URLSearchParams(query ?? "");
  const known = [...given.keys()].every((name) => isLog(part) && (name === "offset" || name === "limit"));
  const offset = count(given.get("offset"));
  const limit = count(given.get("limit"));
  if (!known || offset === undefined || limit === undefined) return null;
  return { id, part: (part as Part | undefined) ?? null, offset, limit };
}

export function isLog(part: string | null | undefined): part is Log {
  return LOGS.some((log) => log === part);
}

/** Parses a number; returns null when it is missing, undefined when it is invalid. */
function count(text: string | null): number | null | undefined {
  if (text === null) return null;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export function sessionUri(id: string, part?: Part): string {
  return `sallyport://session/${id}${part ? `/${part}` : ""}`;
}
