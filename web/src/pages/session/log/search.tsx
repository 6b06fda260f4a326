import { createSignal, onCleanup, Show } from "solid-js";
import { get } from "../../../api/client.ts";
import type { SearchAnswer } from "../../../api/shapes.ts";
import { Icon } from "../../../ui/icon.tsx";
import type { LogStream } from "./log.ts";

const PAGE = 200;

export interface Search {
  query: () => string;
  set(query: string): void;
  status: () => string;
  step(by: 1 | -1): void;
  focus(): void;
  field: (element: HTMLInputElement) => void;
}

/** Searches the whole log. The service searches a bounded part of it per request. */
export function createSearch(id: string, stream: LogStream, onFound: (position: number) => void): Search {
  const [query, setQuery] = createSignal("");
  const [matches, setMatches] = createSignal<number[]>([]);
  const [next, setNext] = createSignal<number | null>(0);
  const [at, setAt] = createSignal(-1);
  const [busy, setBusy] = createSignal(false);
  const [failure, setFailure] = createSignal("");
  let field: HTMLInputElement | undefined;
  let asked = new AbortController();
  onCleanup(() => asked.abort());

  function set(text: string): void {
    asked.abort();
    asked = new AbortController();
    setQuery(text);
    setMatches([]);
    setNext(0);
    setAt(-1);
    setFailure("");
    setBusy(false);
  }

  /** Continues the search until there is a match or the log ends. Reports whether there was a match. */
  async function more(): Promise<boolean> {
    const { signal } = asked;
    setBusy(true);
    try {
      for (let from = next(); from !== null; from = next()) {
        const path = `/v1/sessions/${encodeURIComponent(id)}/search`;
        const answer = await get<SearchAnswer>(path, { q: query(), stream, from, limit: PAGE }, signal);
        setNext(answer.next);
        setMatches((known) => [...known, ...answer.matches.map(({ offset }) => offset)]);
        if (answer.matches.length > 0) return true;
      }
    } catch (error) {
      if (!signal.aborted) setFailure(error instanceof Error ? error.message : String(error));
    } finally {
      if (!signal.aborted) setBusy(false);
    }
    return false;
  }

  async function step(by: 1 | -1): Promise<void> {
    if (query() === "" || busy()) return;
    if (at() + by >= matches().length && next() !== null) await more();
    const count = matches().length;
    if (count === 0) return;
    const to = (at() + by + count) % count;
    setAt(to);
    onFound(matches()[to] as number);
  }

  const status = () => {
    if (failure() !== "") return failure();
    if (busy()) return "Searching…";
    if (at() >= 0) return `${at() + 1} of ${matches().length}${next() === null ? "" : "+"}`;
    return next() === null && query() !== "" ? "Not found" : "";
  };
  return {
    query,
    set,
    status,
    step: (by) => void step(by),
    focus: () => field?.focus(),
    field: (element) => {
      field = element;
    },
  };
}

export function SearchBar(props: { search: Search }) {
  const search = props.search;
  return (
    <div class="log-search">
      <div class="search-field">
        <Icon name="search" />
        <input
          ref={search.field}
          type="search"
          aria-label="Search the log"
          placeholder="Search  ( / )"
          spellcheck={false}
          value={search.query()}
          onInput={(event) => search.set(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") search.step(event.shiftKey ? -1 : 1);
            if (event.key === "Escape") event.currentTarget.blur();
          }}
        />
      </div>
      <span class="hint" role="status">
        {search.status()}
      </span>
      <Show when={search.query() !== ""}>
        <button type="button" class="quiet icon-only" aria-label="Previous match" onClick={() => search.step(-1)}>
          <Icon name="up" />
        </button>
        <button type="button" class="quiet icon-only" aria-label="Next match" onClick={() => search.step(1)}>
          <Icon name="down" />
        </button>
      </Show>
    </div>
  );
}
