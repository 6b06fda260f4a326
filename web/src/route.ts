import { createSignal } from "solid-js";
// Imported first: it removes a sign-in secret from the hash before the hash is read as a route.
import "./sign-in-link.ts";

/** The current page, parsed from the hash of the URL, which is never sent to the server. */
export interface Route {
  page: string;
  id: string | null;
  query: URLSearchParams;
}

/** Pages that were renamed. Links to the old names keep working. */
const RENAMED: Record<string, string> = { now: "sessions", try: "policy-check", machine: "system" };

function read(): Route {
  const [path = "", search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", id] = path.split("/");
  const known = Object.hasOwn(RENAMED, page) ? RENAMED[page] : page;
  return { page: known || "sessions", id: id ? decoded(id) : null, query: new URLSearchParams(search) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const [route, setRoute] = createSignal(read());
addEventListener("hashchange", () => setRoute(read()));

export { route };

export function go(hash: string): void {
  location.hash = hash;
}

export const sessionHash = (id: string, tab?: string): string =>
  `#/session/${encodeURIComponent(id)}${tab ? `?tab=${tab}` : ""}`;

/** Stores the state of the view in the URL, so that it can be shared and survives a reload. Adds no history entry. */
export function rememberQuery(values: Record<string, string>): void {
  const { page, id } = route();
  const kept = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ""));
  const path = `#/${page}${id === null ? "" : `/${encodeURIComponent(id)}`}`;
  const hash = kept.size === 0 ? path : `${path}?${kept}`;
  if (hash !== location.hash) history.replaceState(null, "", hash);
}
