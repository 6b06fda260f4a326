import { MOST_ATTEMPTS } from "../fleet/wire.ts";

/** What a worker's own records call a session: each attempt at it is another run, and may come to the same host. */
export function localId(id: string, attempt: number): string {
  if (attempt === 1) return id;
  const last = Number.parseInt(id.slice(-2), 16) ^ attempt;
  return id.slice(0, -2) + last.toString(16).padStart(2, "0");
}

/** The newest first. */
export function localIds(id: string, attempts = MOST_ATTEMPTS): string[] {
  return Array.from({ length: attempts }, (_, index) => localId(id, attempts - index));
}
