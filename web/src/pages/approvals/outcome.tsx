import { For, Show } from "solid-js";
import type { Approval } from "../../../../src/core/approval.ts";
import { sessionHash } from "../../route.ts";
import { fullTime } from "../../ui/clock.ts";
import { Shown } from "../../ui/shown.tsx";

export const OUTCOME: Record<Approval["status"], { word: string; tone: string }> = {
  pending: { word: "waiting", tone: "warn" },
  approved: { word: "approved", tone: "good" },
  used: { word: "approved and run", tone: "good" },
  denied: { word: "denied", tone: "bad" },
  expired: { word: "expired: denied", tone: "" },
};
const SAID = { once: "said yes, once", always: "said yes, always", deny: "said no" };

/** Who decided what, for the one who came second as well. */
export function Outcome(props: { approval: Approval }) {
  return (
    <div class="outcome">
      <p>
        <span class={`tag ${OUTCOME[props.approval.status].tone}`}>{OUTCOME[props.approval.status].word}</span>
        <Show when={props.approval.session}>
          {(session) => (
            <>
              {" "}
              <a href={sessionHash(session())}>See its session</a>
            </>
          )}
        </Show>
      </p>
      <ul>
        <For each={props.approval.decisions}>
          {(each) => (
            <li>
              <strong>
                <Shown text={each.who} />
              </strong>{" "}
              {SAID[each.decision]}{" "}
              <span class="muted">
                ({each.channel}, {fullTime(each.at)})
              </span>
              <Show when={each.reason}>
                {(reason) => (
                  <>
                    : <Shown text={reason()} />
                  </>
                )}
              </Show>
            </li>
          )}
        </For>
      </ul>
    </div>
  );
}
