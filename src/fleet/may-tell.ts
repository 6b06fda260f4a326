import type { Place } from "./subjects.ts";
import type { News, Work } from "./wire.ts";

/** What a gateway knows of a session it hears news of. */
interface Known {
  /** Who has it, as far as that is known. */
  host: string | null;
  /** Where it was sent. */
  place: Place | null;
  request: Work["request"] | undefined;
}

/** Who has a session tells of it, or who alone was asked to take it; and each for itself (promise 7). */
export function mayTell(news: News, from: string, { host, place, request }: Known): boolean {
  const asked = typeof place === "object" && place !== null && "host" in place ? place.host : from;
  if (from !== (host ?? asked)) return false;
  if (news.kind !== "elsewhere") return news.kind === "grew" || news.host === from;
  // Who named a host or a label wants that one, whatever a worker says of others.
  return host === null && request?.host === undefined && request?.labels === undefined;
}
