import { createEffect, createMemo, createSignal, For, Show } from "solid-js";
import { download } from "../../api/client.ts";
import { useKeys } from "../../keys/bindings.ts";
import { auditHead } from "../../live/events.ts";
import { rememberQuery, route, sessionHash } from "../../route.ts";
import { fullTime } from "../../ui/clock.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Shown } from "../../ui/shown.tsx";
import { Chain } from "./chain.tsx";
import { createEntries } from "./entries.ts";
import { type AuditAsked, auditQuery, KINDS, SPANS } from "./filter.ts";
import "../sessions/sessions.css";
import "./audit.css";
import type { AuditEntry } from "../../../../src/core/audit.ts";

/** The audit log: commands, decisions and their outcomes. */
export default function AuditPage() {
  const query = route().query;
  const [asked, setAsked] = createSignal<AuditAsked>({
    q: query.get("q") ?? "",
    kind: query.get("kind") ?? "",
    agent: query.get("agent") ?? "",
    hours: query.get("hours") ?? "",
  });
  const set = (next: Partial<AuditAsked>): void => {
    setAsked({ ...asked(), ...next });
  };
  createEffect(() => rememberQuery({ ...asked() }));
  const entries = createEntries(asked);
  const newer = createMemo(() => Math.max(0, auditHead() - (entries.all()[0]?.seq ?? auditHead())));
  let search!: HTMLInputElement;
  useKeys("Audit", [
    { keys: "/", does: "Search", run: () => search.focus() },
    { keys: "R", does: "Load new entries", run: () => void entries.refresh() },
  ]);

  return (
    <div class="page">
      <header class="page-head">
        <h1>Audit</h1>
        <p class="grow" role="status">
          {entries.loading() && entries.all().length === 0 ? "Loading…" : ""}
        </p>
        <Show when={newer() > 0}>
          <button type="button" class="small" onClick={() => void entries.refresh()}>
            <Icon name="up" />
            {newer()} new {newer() === 1 ? "entry" : "entries"}
          </button>
        </Show>
        <button type="button" onClick={() => void download("/v1/audit/export", auditQuery(asked()), "audit.ndjson")}>
          <Icon name="file" />
          Export
        </button>
      </header>
      <Chain />
      <div class="filters">
        <div class="search-field">
          <Icon name="search" />
          <input
            ref={search}
            type="search"
            aria-label="Search the audit log"
            placeholder="Search  ( / )"
            spellcheck={false}
            value={asked().q}
            onInput={(event) => set({ q: event.currentTarget.value })}
          />
        </div>
        <select aria-label="Kind" value={asked().kind} onChange={(event) => set({ kind: event.currentTarget.value })}>
          <option value="">All kinds</option>
          <For each={KINDS}>{(kind) => <option value={kind}>{kind}</option>}</For>
        </select>
        <input
          class="agent-field"
          aria-label="Agent"
          placeholder="All agents"
          spellcheck={false}
          value={asked().agent}
          onInput={(event) => set({ agent: event.currentTarget.value })}
        />
        <select
          aria-label="Time range"
          value={asked().hours}
          onChange={(event) => set({ hours: event.currentTarget.value })}
        >
          <For each={SPANS}>{(span) => <option value={span.hours}>{span.name}</option>}</For>
        </select>
      </div>
      <Show when={entries.error()}>
        <ErrorNote error={entries.error()} />
      </Show>
      <Show
        when={entries.all().length > 0}
        fallback={<p class="center muted">{entries.loading() ? "" : "No matching entries"}</p>}
      >
        <ol class="card audit-list" aria-label="Entries, newest first">
          <For each={entries.all()}>{(entry) => <Entry entry={entry} />}</For>
        </ol>
        <Show when={entries.more()}>
          <button type="button" class="more" disabled={entries.loading()} onClick={() => void entries.loadMore()}>
            {entries.loading() ? "Loading…" : "Load older entries"}
          </button>
        </Show>
      </Show>
    </div>
  );
}

const TONES: Record<string, string> = {
  allowed: "good",
  completed: "good",
  approved: "good",
  used: "good",
  blocked: "bad",
  denied: "bad",
  refused: "bad",
  failed: "bad",
  asked: "warn",
  killed: "warn",
  timed_out: "warn",
};

function Entry(props: { entry: AuditEntry }) {
  const [open, setOpen] = createSignal(false);
  const entry = props.entry;
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary class="audit-row">
          <span class="audit-seq">{entry.seq}</span>
          <time datetime={entry.at} title={entry.at}>
            {fullTime(entry.at)}
          </time>
          <span class="audit-kind">
            <Shown text={entry.kind} />
          </span>
          <span class={`tag ${TONES[entry.outcome] ?? ""}`}>
            <Shown text={entry.outcome} />
          </span>
          <span class="audit-who">
            <Shown text={entry.actor} />
          </span>
          <span class="audit-summary">
            <Shown text={entry.summary} />
          </span>
        </summary>
        <Show when={open()}>
          <div class="audit-detail">
            <p>
              Agent{" "}
              <strong>
                <Shown text={entry.agent === "" ? "–" : entry.agent} />
              </strong>
              , via <Shown text={entry.channel} />
              <Show when={entry.session}>
                {(session) => (
                  <>
                    ,{" "}
                    <a href={sessionHash(session())}>
                      session <Shown text={session().slice(0, 13)} />
                    </a>
                  </>
                )}
              </Show>
            </p>
            <pre class="block" tabIndex={0}>
              <Shown text={JSON.stringify(entry.detail, null, 2)} lines />
            </pre>
            <p class="hint">
              <code>{entry.hash}</code>
            </p>
          </div>
        </Show>
      </details>
    </li>
  );
}
