import { createEffect, createMemo, createSignal, ErrorBoundary, For, on, onMount, Show } from "solid-js";
import type { Approval } from "../../../../src/core/approval.ts";
import { useKeys } from "../../keys/bindings.ts";
import { approvalNamed, approvalsFailure, approvalsLoading, decided, pending } from "../../live/approvals.ts";
import { canNotify, notifies, toggleNotify } from "../../live/notify.ts";
import { route } from "../../route.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Shown } from "../../ui/shown.tsx";
import { Ago, Until } from "../../ui/time.tsx";
import { ApprovalCard } from "./card.tsx";
import { OUTCOME } from "./outcome.tsx";
import "./approvals.css";

const DECIDED_SHOWN = 30;

/** The inbox: what waits for a person. */
export default function ApprovalsPage() {
  const [selected, setSelected] = createSignal<string | null>(route().id);
  // Not there before the first request is.
  let detail: HTMLDivElement | undefined;

  const current = createMemo(() => {
    const id = selected();
    return id === null ? undefined : approvalNamed(id);
  });
  // Where nothing is selected the one that has waited longest is shown, and stays when others come and go.
  createEffect(() => {
    if (current() === undefined) setSelected(pending()[0]?.id ?? null);
  });
  createEffect(
    on(
      () => route().id,
      (id) => id !== null && setSelected(id),
      { defer: true },
    ),
  );

  const focusCard = (): void => {
    queueMicrotask(() => detail?.querySelector<HTMLElement>("article")?.focus());
  };
  function choose(id: string): void {
    setSelected(id);
    focusCard();
  }
  function move(step: number): void {
    const ids = pending().map(({ id }) => id);
    const at = ids.indexOf(selected() ?? "");
    const next = ids[at < 0 ? 0 : Math.max(0, Math.min(ids.length - 1, at + step))];
    if (next !== undefined) choose(next);
  }
  onMount(focusCard);

  useKeys("Approvals", [
    { keys: "j / ArrowDown", does: "Next request", run: () => move(1) },
    { keys: "k / ArrowUp", does: "Previous request", run: () => move(-1) },
  ]);

  return (
    <div class="page approvals-page">
      <header class="page-head">
        <h1>Approvals</h1>
        <p class="grow" role="status" aria-live="polite">
          {pending().length === 0 ? "Nobody waits" : `${pending().length} waiting for a decision`}
        </p>
        <Show when={canNotify}>
          <button type="button" aria-pressed={notifies()} onClick={() => void toggleNotify()}>
            <Icon name="bell" />
            Tell me on the desktop
          </button>
        </Show>
      </header>
      <Show when={approvalsFailure()}>
        <ErrorNote error={approvalsFailure()} />
      </Show>
      <Show
        when={pending().length + decided().length > 0}
        fallback={
          <div class="card nothing">
            <h2>{approvalsLoading() ? "Loading…" : "Nothing to decide"}</h2>
            <p>When an agent wants to run something that needs a person's yes, it waits here.</p>
          </div>
        }
      >
        <div class="inbox">
          <div class="inbox-list" role="region" aria-label="Requests" tabIndex={0}>
            <ul aria-label="Waiting">
              <For each={pending()}>
                {(approval) => <Entry approval={approval} selected={selected() === approval.id} onChoose={choose} />}
              </For>
            </ul>
            <Show when={decided().length > 0}>
              <h2>Decided lately</h2>
              <ul aria-label="Decided lately">
                <For each={decided().slice(0, DECIDED_SHOWN)}>
                  {(approval) => <Entry approval={approval} selected={selected() === approval.id} onChoose={choose} />}
                </For>
              </ul>
            </Show>
          </div>
          <div class="inbox-detail" ref={detail}>
            <Show when={current()} fallback={<p class="centre muted">Choose a request to see all of it.</p>}>
              {(approval) => (
                <ErrorBoundary fallback={(error, reset) => <Unshown id={approval().id} error={error} reset={reset} />}>
                  <ApprovalCard
                    approval={approval()}
                    onNext={() => move(1)}
                    others={pending().filter(({ id }) => id !== approval().id).length}
                  />
                </ErrorBoundary>
              )}
            </Show>
          </div>
        </div>
      </Show>
    </div>
  );
}

/** One that cannot be drawn takes neither the list nor the next one with it; it cannot be decided here either. */
function Unshown(props: { id: string; error: unknown; reset: () => void }) {
  createEffect(
    on(
      () => props.id,
      () => props.reset(),
      { defer: true },
    ),
  );
  return (
    <div class="card">
      <h2>This request cannot be shown</h2>
      <ErrorNote error={props.error} />
      <p>
        On the command line: <code>sallyport approvals {props.id}</code>
      </p>
    </div>
  );
}

function Entry(props: { approval: Approval; selected: boolean; onChoose: (id: string) => void }) {
  const firstLine = () => props.approval.request.command.text.split("\n", 1)[0] ?? "";
  return (
    <li>
      <button
        type="button"
        class="entry"
        aria-current={props.selected ? "true" : undefined}
        onClick={() => props.onChoose(props.approval.id)}
      >
        <code>
          <Shown text={firstLine()} />
        </code>
        <span class="entry-foot">
          <span>
            <Shown text={props.approval.agent} />
          </span>
          <Show
            when={props.approval.status === "pending"}
            fallback={
              <>
                <span class={`tag ${OUTCOME[props.approval.status].tone}`}>{OUTCOME[props.approval.status].word}</span>
                <Ago at={props.approval.decidedAt ?? props.approval.expiresAt} />
              </>
            }
          >
            <span>
              <Until at={props.approval.expiresAt} /> left
            </span>
          </Show>
        </span>
      </button>
    </li>
  );
}
