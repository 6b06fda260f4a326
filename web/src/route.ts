import { createSignal } from "solid-js";
// First, so that no secret is ever taken for a page.
import "./sign-in-link.ts";

/** Where the page is, told by the part of the address that never leaves the browser. */
export interface Route {
  page: string;
  id: string | null;
  query: URLSearchParams;
}

function read(): Route {
  const [path = "", search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", id] = path.split("/");
  return { page: page || "now", id: id ? decoded(id) : null, query: new URLSearchParams(search) };
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

/** Keeps what is looked at in the address, so that it can be shared and survives a reload, without a step in the history. */
export function rememberQuery(values: Record<string, string>): void {
  const { page, id } = route();
  const kept = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ""));
  const path = `#/${page}${id === null ? "" : `/${encodeURIComponent(id)}`}`;
  const hash = kept.size === 0 ? path : `${path}?${kept}`;
  if (hash !== location.hash) history.replaceState(null, "", hash);
}
