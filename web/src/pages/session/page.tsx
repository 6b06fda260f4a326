import { createEffect, createMemo, createResource, createSignal, For, lazy, on, Show, Suspense } from "solid-js";
import type { SessionInfo } from "../../../../src/core/session.ts";
import { get } from "../../api/client.ts";
import type { SessionDetails } from "../../api/shapes.ts";
import { useKeys } from "../../keys/bindings.ts";
import { sessionNamed } from "../../live/sessions.ts";
import { go, rememberQuery, route } from "../../route.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { DetailsTab } from "./details/details.tsx";
import { SessionHead } from "./head.tsx";
import { LogViewer } from "./log/viewer.tsx";
import { ProcessTree } from "./usage/processes.tsx";
import { createSampler } from "./usage/sampler.ts";
import "./session.css";

const LiveTerminal = lazy(() => import("./terminal/live.tsx"));
const Replay = lazy(() => import("./terminal/replay.tsx"));
const UsageTab = lazy(() => import("./usage/charts.tsx"));

const TABS = [
  { tab: "terminal", name: "Terminal", pty: true },
  { tab: "log", name: "Log" },
  { tab: "replay", name: "Replay", pty: true },
  { tab: "processes", name: "Processes" },
  { tab: "usage", name: "Usage" },
  { tab: "details", name: "Details" },
] as const;
type Tab = (typeof TABS)[number]["tab"];

/** Returns the tab that a link names. `facts` is the former name of `details`. */
const tabNamed = (name: string | null): string | null => (name === "facts" ? "details" : name);

export default function SessionPage() {
  return (
    <Show when={route().id} keyed fallback={<p class="center muted">No session selected</p>}>
      {(id) => <OneSession id={id} />}
    </Show>
  );
}

function OneSession(props: { id: string }) {
  const path = `/v1/sessions/${encodeURIComponent(props.id)}`;
  const [details, { refetch }] = createResource(() => get<SessionDetails>(path));
  /** The loaded details, updated by events. Until they are loaded, the entry of the session list is shown. */
  const info = createMemo((): SessionDetails | undefined => {
    const loaded = details.error ? undefined : details.latest;
    const listed = sessionNamed(loaded?.id ?? props.id);
    if (loaded) return { ...loaded, ...listed };
    return listed && !details.error ? { ...listed, verdict: null, approval: null } : undefined;
  });
  // Events contain neither the verdict nor the approval, so a change of status reloads the details.
  const status = createMemo(() => info()?.status);
  createEffect(on(status, (_now, before) => before !== undefined && void refetch(), { defer: true }));
  return (
    <div class="page session-page">
      <Show when={details.error}>
        <h1>Session</h1>
        <ErrorNote error={details.error} />
        <p>
          <a href="#/sessions">Back to sessions</a>
        </p>
      </Show>
      <Show
        when={info()}
        fallback={
          <Show when={!details.error}>
            <p class="center muted">Loading…</p>
          </Show>
        }
      >
        {(known) => <Known info={known()} />}
      </Show>
    </div>
  );
}

const isLive = (info: SessionInfo): boolean => info.status === "running" || info.lingering;

function Known(props: { info: SessionDetails }) {
  const live = createMemo(() => isLive(props.info));
  const tabs = () => TABS.filter((each) => !("pty" in each) || props.info.pty !== null);
  const first = tabs()[0]?.tab as Tab;
  // The tab named in the URL. It changes when a link leads to another tab of the same session.
  const askedTab = createMemo(() => tabNamed(route().query.get("tab")));
  const [tab, setTab] = createSignal<Tab>(tabs().find((each) => each.tab === askedTab())?.tab ?? first);
  const sampler = createSampler(props.info.id, live);
  createEffect(() => rememberQuery({ tab: tab() === first ? "" : tab() }));
  createEffect(
    on(askedTab, (asked) => setTab(tabs().find((each) => each.tab === asked)?.tab ?? first), { defer: true }),
  );

  const choose = (next: Tab): void => {
    setTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  function move(step: number): void {
    const all = tabs();
    const at = all.findIndex((each) => each.tab === tab());
    choose(all[(at + step + all.length) % all.length]?.tab as Tab);
  }
  useKeys("Session", [
    { keys: "]", does: "Next tab", run: () => move(1) },
    { keys: "[", does: "Previous tab", run: () => move(-1) },
    { keys: "Backspace / h", does: "Back to sessions", run: () => go("#/sessions") },
  ]);

  return (
    <>
      <SessionHead info={props.info} processes={sampler.processes()} />
      <div class="tabs" role="tablist" aria-label="Session tabs">
        <For each={tabs()}>
          {(each) => (
            <button
              type="button"
              role="tab"
              id={`tab-${each.tab}`}
              aria-selected={tab() === each.tab}
              aria-controls="session-view"
              tabIndex={tab() === each.tab ? 0 : -1}
              onClick={() => setTab(each.tab)}
              onKeyDown={(event) => {
                if (event.key === "ArrowRight") move(1);
                if (event.key === "ArrowLeft") move(-1);
              }}
            >
              {each.name}
            </button>
          )}
        </For>
      </div>
      <div id="session-view" class="session-view" role="tabpanel" aria-labelledby={`tab-${tab()}`}>
        <Suspense fallback={<p class="center muted">Loading…</p>}>
          <Show when={tab() === "terminal" && props.info.pty}>
            {(size) => <LiveTerminal id={props.info.id} size={size()} live={live()} />}
          </Show>
          <Show when={tab() === "log"}>
            <LogViewer id={props.info.id} live={live()} apart={props.info.capture === "apart"} />
          </Show>
          <Show when={tab() === "replay"}>
            <Replay id={props.info.id} />
          </Show>
          <Show when={tab() === "processes"}>
            <ProcessTree processes={sampler.processes()} live={live()} />
          </Show>
          <Show when={tab() === "usage"}>
            <UsageTab sampler={sampler} live={live()} />
          </Show>
          <Show when={tab() === "details"}>
            <DetailsTab info={props.info} />
          </Show>
        </Suspense>
      </div>
    </>
  );
}
