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

/** Pending and recently decided approval requests. */
export default function ApprovalsPage() {
  const [selected, setSelected] = createSignal<string | null>(route().id);
  // Undefined until the first request is shown.
  let detail: HTMLDivElement | undefined;

  const current = createMemo(() => {
    const id = selected();
    return id === null ? undefined : approvalNamed(id);
  });
  // Without a selection the oldest pending request is selected. It stays selected while others come and go.
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
          {pending().length === 0
            ? "No pending approvals"
            : `${pending().length} pending ${pending().length === 1 ? "approval" : "approvals"}`}
        </p>
        <Show when={canNotify}>
          <button type="button" aria-pressed={notifies()} onClick={() => void toggleNotify()}>
            <Icon name="bell" />
            Desktop notifications
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
            <h2>{approvalsLoading() ? "Loading…" : "No approval requests"}</h2>
            <p>Commands that require approval appear here.</p>
          </div>
        }
      >
        <div class="inbox">
          <div class="inbox-list" role="region" aria-label="Requests" tabIndex={0}>
            <ul aria-label="Pending">
              <For each={pending()}>
                {(approval) => <Entry approval={approval} selected={selected() === approval.id} onChoose={choose} />}
              </For>
            </ul>
            <Show when={decided().length > 0}>
              <h2>Recently decided</h2>
              <ul aria-label="Recently decided">
                <For each={decided().slice(0, DECIDED_SHOWN)}>
                  {(approval) => <Entry approval={approval} selected={selected() === approval.id} onChoose={choose} />}
                </For>
              </ul>
            </Show>
          </div>
          <div class="inbox-detail" ref={detail}>
            <Show when={current()} fallback={<p class="center muted">Select a request to view it.</p>}>
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

/** Shown instead of a request that failed to render. It cannot be decided here; other requests are not affected. */
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
      <h2>This request cannot be displayed</h2>
      <ErrorNote error={props.error} />
      <p>
        View it on the command line: <code>sallyport approvals {props.id}</code>
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
