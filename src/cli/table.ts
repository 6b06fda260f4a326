import { formatAge, formatDuration } from "../text/format.ts";

const SHORTEST = 13;

/** The first 13 characters of a UUIDv7 are its millisecond; ids that share one are shown as far as they differ. */
export function shortIds(ids: string[]): (id: string) => string {
  return (id) => {
    let length = SHORTEST;
    while (length < id.length && ids.some((other) => other !== id && other.startsWith(id.slice(0, length))))
      length += 1;
    return id.slice(0, length);
  };
}

export function expiryText(expiresAt: string | null, nowMs: number): string {
  if (expiresAt === null) return "never";
  const left = Date.parse(expiresAt) - nowMs;
  return left > 0 ? `in ${formatDuration(left)}` : `${formatAge(-left)} ago`;
}
