import { createEffect, createMemo, createResource, createSignal, For, lazy, on, Show, Suspense } from "solid-js";
import type { SessionInfo } from "../../../../src/core/session.ts";
import { get } from "../../api/client.ts";
import type { SessionDetails } from "../../api/shapes.ts";
import { useKeys } from "../../keys/bindings.ts";
import { sessionNamed } from "../../live/sessions.ts";
import { go, rememberQuery, route } from "../../route.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { FactsTab } from "./facts/facts.tsx";
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
  { tab: "facts", name: "Facts" },
] as const;
type Tab = (typeof TABS)[number]["tab"];

export default function SessionPage() {
  return (
    <Show when={route().id} keyed fallback={<p class="centre muted">Which session?</p>}>
      {(id) => <OneSession id={id} />}
    </Show>
  );
}

function OneSession(props: { id: string }) {
  const path = `/v1/sessions/${encodeURIComponent(props.id)}`;
  const [details, { refetch }] = createResource(() => get<SessionDetails>(path));
  /** As it was read, kept current by events; what the page knows already is shown at once. */
  const info = createMemo((): SessionDetails | undefined => {
    const read = details.error ? undefined : details.latest;
    const told = sessionNamed(read?.id ?? props.id);
    if (read) return { ...read, ...told };
    return told && !details.error ? { ...told, verdict: null, approval: null } : undefined;
  });
  // The verdict and the approval are only told when asked for.
  const status = createMemo(() => info()?.status);
  createEffect(on(status, (_now, before) => before !== undefined && void refetch(), { defer: true }));
  return (
    <div class="page session-page">
      <Show when={details.error}>
        <h1>Session</h1>
        <ErrorNote error={details.error} />
        <p>
          <a href="#/now">Back to what runs now</a>
        </p>
      </Show>
      <Show
        when={info()}
        fallback={
          <Show when={!details.error}>
            <p class="centre muted">Loading…</p>
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
  const [tab, setTab] = createSignal<Tab>(tabs().find((each) => each.tab === route().query.get("tab"))?.tab ?? first);
  const sampler = createSampler(props.info.id, live);
  createEffect(() => rememberQuery({ tab: tab() === first ? "" : tab() }));
  // A link to another view of the same session.
  const askedTab = createMemo(() => route().query.get("tab"));
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
    { keys: "]", does: "Next view", run: () => move(1) },
    { keys: "[", does: "Previous view", run: () => move(-1) },
    { keys: "Backspace / h", does: "Back to what runs now", run: () => go("#/now") },
  ]);

  return (
    <>
      <SessionHead info={props.info} processes={sampler.processes()} />
      <div class="tabs" role="tablist" aria-label="Views of the session">
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
        <Suspense fallback={<p class="centre muted">Loading…</p>}>
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
          <Show when={tab() === "facts"}>
            <FactsTab info={props.info} />
          </Show>
        </Suspense>
      </div>
    </>
  );
}
