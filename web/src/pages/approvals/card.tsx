import { createEffect, createMemo, createSignal, on, Show } from "solid-js";
import type { Approval, ApprovalDecision, GrantScope } from "../../../../src/core/approval.ts";
import { get, post } from "../../api/client.ts";
import { useKeys } from "../../keys/bindings.ts";
import { noteApproval } from "../../live/approvals.ts";
import { may } from "../../live/me.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Shown } from "../../ui/shown.tsx";
import { Until } from "../../ui/time.tsx";
import { AlwaysPanel } from "./always.tsx";
import { useArmed } from "./armed.ts";
import { CommandBlock } from "./command-block.tsx";
import { DenyPanel } from "./deny.tsx";
import { ApprovalFacts } from "./details.tsx";
import { Outcome } from "./outcome.tsx";

type Panel = "none" | "always" | "deny";

/** One request, whole, and the answer to it. */
export function ApprovalCard(props: { approval: Approval; onNext: () => void; others: number }) {
  const [panel, setPanel] = createSignal<Panel>("none");
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<unknown>(null);
  const [endSeen, setEndSeen] = createSignal(false);
  // A memo: the same request told anew must not close what was opened, or take back what was said.
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
      // Also where somebody else was first: their decision is shown at once.
      await get<Approval>(`/v1/approvals/${decidedId}`).then(noteApproval, () => undefined);
      card.focus();
    }
  }

  /** Only for the card in focus, in sight for long enough; a key held down is no decision. */
  const byKey = (act: () => void) => (event: KeyboardEvent) => {
    const inCard = document.activeElement !== null && card.contains(document.activeElement);
    if (inCard && armed() && open() && may("approver") && !event.repeat && !busy()) act();
  };
  useKeys("The request in focus", [
    { keys: "o", does: "Allow once", run: byKey(() => void decide("once")) },
    { keys: "a", does: "Allow always: see what, then confirm", run: byKey(() => grantable() && setPanel("always")) },
    { keys: "d", does: "Deny, with a reason", run: byKey(() => setPanel("deny")) },
    { keys: "Escape", does: "Back", run: () => setPanel("none") },
  ]);
  const grantable = () => props.approval.request.always.ok;

  return (
    <article class="card approval" ref={card} tabIndex={-1} aria-label={`Request of ${props.approval.agent}`}>
      <header class="approval-head">
        <h2>
          <Shown text={props.approval.agent} /> {open() ? "wants to run" : "wanted to run"}
        </h2>
        <Show when={open()}>
          <p class="countdown" data-soon={Date.parse(props.approval.expiresAt) - Date.now() < 60_000}>
            <Until at={props.approval.expiresAt} /> left
          </p>
        </Show>
      </header>
      <CommandBlock request={props.approval.request} onEndSeen={() => setEndSeen(true)} />
      <Show when={!open()}>
        <Outcome approval={props.approval} />
        <Show when={props.others > 0}>
          <div class="actions">
            <button type="button" onClick={() => props.onNext()}>
              Next of {props.others} waiting <kbd>j</kbd>
            </button>
          </div>
        </Show>
      </Show>
      <Show
        when={open() && may("approver")}
        fallback={
          <Show when={open()}>
            <p class="hint">Deciding needs the role approver; you may look.</p>
          </Show>
        }
      >
        <Show when={panel() === "none"}>
          <div class="actions" data-armed={armed()}>
            <button type="button" class="primary" disabled={!armed() || busy()} onClick={() => void decide("once")}>
              Once <kbd>o</kbd>
            </button>
            <Show when={grantable()}>
              <button type="button" disabled={!armed() || busy()} onClick={() => setPanel("always")}>
                Always… <kbd>a</kbd>
              </button>
            </Show>
            <button type="button" class="danger" disabled={!armed() || busy()} onClick={() => setPanel("deny")}>
              Deny… <kbd>d</kbd>
            </button>
            <Show when={!props.approval.request.always.ok && props.approval.request.always}>
              {(always) => (
                <p class="hint">
                  Always cannot be offered: <Shown text={(always() as { why: string }).why} />
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
