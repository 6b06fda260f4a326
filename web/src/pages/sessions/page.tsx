import { createEffect, createMemo, createSignal, For, onCleanup, Show } from "solid-js";
import { useKeys } from "../../keys/bindings.ts";
import { sessionNamed, sessions, sessionsFailure, sessionsLoading } from "../../live/sessions.ts";
import { go, rememberQuery, route, sessionHash } from "../../route.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Windowed, type WindowedHandle } from "../../ui/windowed.tsx";
import { isOfKind, KINDS, type Kind, kindNamed, matcher } from "./filter.ts";
import { SessionRow } from "./row.tsx";
import "./sessions.css";

const WIDE_ROW = 54;
const NARROW_ROW = 78;

/** The list of running, pending and ended sessions, kept current by events. */
export function SessionsPage() {
  const asked = route().query;
  const [text, setText] = createSignal(asked.get("q") ?? "");
  const [kind, setKind] = createSignal<Kind>(kindNamed(asked.get("show")));
  const [agent, setAgent] = createSignal(asked.get("agent") ?? "");
  const [selected, setSelected] = createSignal<string | null>(null);
  let search: HTMLInputElement | undefined;
  let list: WindowedHandle | undefined;

  const agents = createMemo(() => [...new Set(sessions().map((info) => info.agent))].sort());
  const matching = createMemo(() => {
    const matches = matcher(text());
    return sessions().filter((info) => (agent() === "" || info.agent === agent()) && matches(info));
  });
  const ids = createMemo(() =>
    matching()
      .filter((info) => isOfKind(info, kind()))
      .map((info) => info.id),
  );
  const narrow = narrowPage();
  createEffect(() => rememberQuery({ q: text(), show: kind() === "all" ? "" : kind(), agent: agent() }));

  function choose(index: number): void {
    const within = Math.max(0, Math.min(ids().length - 1, index));
    const id = ids()[within];
    if (id === undefined) return;
    setSelected(id);
    list?.reveal(within);
    queueMicrotask(() => list?.element.querySelector<HTMLElement>(`[data-session="${CSS.escape(id)}"]`)?.focus());
  }
  function move(step: number): void {
    const at = selected() === null ? -1 : ids().indexOf(selected() as string);
    choose(at < 0 ? 0 : at + step);
  }

  useKeys("Sessions", [
    { keys: "j / ArrowDown", does: "Next session", run: () => move(1) },
    { keys: "k / ArrowUp", does: "Previous session", run: () => move(-1) },
    { keys: "PageDown", does: "Page down", run: () => move(15) },
    { keys: "PageUp", does: "Page up", run: () => move(-15) },
    { keys: "Home", does: "Newest session", run: () => choose(0) },
    { keys: "End", does: "Oldest session", run: () => choose(ids().length - 1) },
    { keys: "Enter / o", does: "Open the session", run: () => selected() && go(sessionHash(selected() as string)) },
    { keys: "/", does: "Search", run: () => search?.focus() },
    ...KINDS.map((each, index) => ({
      keys: String(index + 1),
      does: `Show ${each.name.toLowerCase()} sessions`,
      run: () => void setKind(each.kind),
    })),
  ]);

  return (
    <div class="page sessions-page">
      <header class="page-head">
        <h1>Sessions</h1>
        <p class="grow">
          <Summary shown={ids().length} all={sessions().length} />
        </p>
        <div class="search-field">
          <Icon name="search" />
          <input
            ref={search}
            type="search"
            aria-label="Search sessions"
            placeholder="Search  ( / )"
            spellcheck={false}
            value={text()}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") event.currentTarget.blur();
              if (event.key === "ArrowDown" || event.key === "Enter") {
                event.preventDefault();
                choose(0);
              }
            }}
          />
        </div>
      </header>
      <div class="filters">
        <div class="segments" role="group" aria-label="Filter by status">
          <For each={KINDS}>
            {(each) => (
              <button
                type="button"
                title={each.title}
                aria-pressed={kind() === each.kind}
                onClick={() => setKind(each.kind)}
              >
                {each.name}
                <span class="count">{matching().filter((info) => isOfKind(info, each.kind)).length}</span>
              </button>
            )}
          </For>
        </div>
        <Show when={agents().length > 1 || agent() !== ""}>
          <select aria-label="Agent" value={agent()} onChange={(event) => setAgent(event.currentTarget.value)}>
            <option value="">All agents</option>
            <For each={agents()}>{(name) => <option value={name}>{name}</option>}</For>
          </select>
        </Show>
      </div>
      <Show when={sessionsFailure()}>
        <ErrorNote error={sessionsFailure()} />
      </Show>
      <Show when={ids().length > 0} fallback={<Nothing loading={sessionsLoading()} none={sessions().length === 0} />}>
        <div class="card session-table" role="table" aria-label="Sessions" aria-rowcount={ids().length + 1}>
          <div role="rowgroup">
            <div class="session-row head" role="row" aria-rowindex={1}>
              <For each={["Status", "Command", "Started", "Duration", "CPU", "Memory"]}>
                {(name) => <div role="columnheader">{name}</div>}
              </For>
            </div>
          </div>
          <Windowed
            class="session-rows"
            role="rowgroup"
            ids={ids()}
            rowHeight={narrow() ? NARROW_ROW : WIDE_ROW}
            handle={(handle) => {
              list = handle;
            }}
            row={(id, index) => (
              <Show when={sessionNamed(id)}>
                {(info) => <SessionRow info={info()} index={index()} onFocus={() => setSelected(id)} />}
              </Show>
            )}
          />
        </div>
      </Show>
    </div>
  );
}

function Summary(props: { shown: number; all: number }) {
  const running = () => sessions().filter((info) => isOfKind(info, "running")).length;
  return (
    <>
      {running()} running
      <Show when={props.shown !== props.all} fallback={`, ${props.all} total`}>
        , {props.shown} of {props.all} shown
      </Show>
    </>
  );
}

function Nothing(props: { loading: boolean; none: boolean }) {
  return (
    <div class="card nothing">
      <Show when={!props.loading} fallback={<p>Loading…</p>}>
        <Show
          when={props.none}
          fallback={
            <>
              <h2>No matching sessions</h2>
              <p>Change the filter or the search.</p>
            </>
          }
        >
          <h2>No sessions yet</h2>
          <p>
            Commands that agents run through Sallyport appear here. To see one, run{" "}
            <code>sallyport run -c 'echo hello'</code>.
          </p>
        </Show>
      </Show>
    </div>
  );
}

/** Reports whether the page is narrow. Rows are taller on a narrow page. */
function narrowPage(): () => boolean {
  const media = matchMedia("(max-width: 760px)");
  const [narrow, setNarrow] = createSignal(media.matches);
  const changed = () => setNarrow(media.matches);
  media.addEventListener("change", changed);
  onCleanup(() => media.removeEventListener("change", changed));
  return narrow;
}
