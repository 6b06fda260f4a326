import { createEffect, createMemo, createSignal, on, Show } from "solid-js";
import type { Approval, ApprovalDecision, GrantScope } from "../../../../src/core/approval.ts";
import { get, post } from "../../api/client.ts";
import { useKeys } from "../../keys/bindings.ts";
import { noteApproval } from "../../live/approvals.ts";
import { may } from "../../live/me.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Prose } from "../../ui/prose.tsx";
import { Shown } from "../../ui/shown.tsx";
import { Until } from "../../ui/time.tsx";
import { AlwaysPanel } from "./always.tsx";
import { useArmed } from "./armed.ts";
import { CommandBlock } from "./command-block.tsx";
import { DenyPanel } from "./deny.tsx";
import { ApprovalFacts } from "./details.tsx";
import { Outcome } from "./outcome.tsx";

type Panel = "none" | "always" | "deny";

/** One complete approval request and the controls to decide it. */
export function ApprovalCard(props: { approval: Approval; onNext: () => void; others: number }) {
  const [panel, setPanel] = createSignal<Panel>("none");
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<unknown>(null);
  const [endSeen, setEndSeen] = createSignal(false);
  // A memo, so that an update of the same request neither closes an open panel nor resets the card.
  const id = createMemo(() => props.approval.id);
  const armed = useArmed(id, endSeen);
  const open = () => props.approval.status === "pending";
  let card!: HTMLElement;

  createEffect(
    on(id, () => {
      setPanel("none");
      setError(null);
      setEndSeen(false);
    }),
  );

  async function decide(decision: ApprovalDecision["decision"], more: { reason?: string; grant?: GrantScope } = {}) {
    if (busy() || !open()) return;
    const decidedId = id();
    setBusy(true);
    setError(null);
    try {
      await post(`/v1/approvals/${decidedId}/decision`, { decision, ...more });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
      setPanel("none");
      // The request is also reloaded on failure, because another approver may have decided first.
      await get<Approval>(`/v1/approvals/${decidedId}`).then(noteApproval, () => undefined);
      card.focus();
    }
  }

  /** Runs an action only when the focus is inside the card and the request is armed. Key repeat is ignored. */
  const byKey = (act: () => void) => (event: KeyboardEvent) => {
    const inCard = document.activeElement !== null && card.contains(document.activeElement);
    if (inCard && armed() && open() && may("approver") && !event.repeat && !busy()) act();
  };
  useKeys("Selected request", [
    { keys: "o", does: "Allow once", run: byKey(() => void decide("once")) },
    { keys: "a", does: "Always allow (asks for confirmation)", run: byKey(() => grantable() && setPanel("always")) },
    { keys: "d", does: "Deny (asks for a reason)", run: byKey(() => setPanel("deny")) },
    { keys: "Escape", does: "Cancel", run: () => setPanel("none") },
  ]);
  const grantable = () => props.approval.request.always.ok;

  return (
    <article class="card approval" ref={card} tabIndex={-1} aria-label={`Request from ${props.approval.agent}`}>
      <header class="approval-head">
        <h2>
          <Shown text={props.approval.agent} /> {open() ? "wants to run" : "wanted to run"}
        </h2>
        <Show when={open()}>
          <p class="countdown" data-soon={Date.parse(props.approval.expiresAt) - Date.now() < 60_000}>
            Expires in <Until at={props.approval.expiresAt} />
          </p>
        </Show>
      </header>
      <CommandBlock request={props.approval.request} onEndSeen={() => setEndSeen(true)} />
      <Show when={!open()}>
        <Outcome approval={props.approval} />
        <Show when={props.others > 0}>
          <div class="actions">
            <button type="button" onClick={() => props.onNext()}>
              Next request ({props.others} pending) <kbd>j</kbd>
            </button>
          </div>
        </Show>
      </Show>
      <Show
        when={open() && may("approver")}
        fallback={
          <Show when={open()}>
            <p class="hint">Only approvers and operators can decide requests.</p>
          </Show>
        }
      >
        <Show when={panel() === "none"}>
          <div class="actions" data-armed={armed()}>
            <button type="button" class="primary" disabled={!armed() || busy()} onClick={() => void decide("once")}>
              Allow once <kbd>o</kbd>
            </button>
            <Show when={grantable()}>
              <button type="button" disabled={!armed() || busy()} onClick={() => setPanel("always")}>
                Always allow… <kbd>a</kbd>
              </button>
            </Show>
            <button type="button" class="danger" disabled={!armed() || busy()} onClick={() => setPanel("deny")}>
              Deny… <kbd>d</kbd>
            </button>
            <Show when={!props.approval.request.always.ok && props.approval.request.always}>
              {(always) => (
                <p class="hint">
                  “Always allow” is not available: <Prose text={(always() as { why: string }).why} />
                </p>
              )}
            </Show>
          </div>
        </Show>
        <Show when={panel() === "always"}>
          <AlwaysPanel
            approval={props.approval}
            onAllow={(grant) => void decide("always", { grant })}
            onCancel={() => setPanel("none")}
          />
        </Show>
        <Show when={panel() === "deny"}>
          <DenyPanel
            onDeny={(reason) => void decide("deny", reason === "" ? {} : { reason })}
            onCancel={() => setPanel("none")}
          />
        </Show>
      </Show>
      <Show when={error()}>
        <ErrorNote error={error()} />
      </Show>
      <ApprovalFacts approval={props.approval} />
    </article>
  );
}
