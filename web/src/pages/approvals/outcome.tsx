import { For, Show } from "solid-js";
import type { Approval, RecordedDecision } from "../../../../src/core/approval.ts";
import { formatDuration } from "../../../../src/text/format.ts";
import { sessionHash } from "../../route.ts";
import { fullTime } from "../../ui/clock.ts";
import { Shown } from "../../ui/shown.tsx";
import { TERMS } from "./always.tsx";

export const OUTCOME: Record<Approval["status"], { word: string; tone: string }> = {
  pending: { word: "pending", tone: "warn" },
  approved: { word: "approved", tone: "good" },
  used: { word: "approved and executed", tone: "good" },
  denied: { word: "denied", tone: "bad" },
  expired: { word: "expired", tone: "" },
};

function decisionText({ decision, grant }: RecordedDecision): string {
  if (decision === "deny") return "denied this";
  if (decision === "once") return "allowed this once";
  const ms = grant?.expiresMs;
  if (ms === undefined) return "allowed this permanently";
  return `allowed this for ${TERMS.find((term) => term.ms === ms)?.name ?? formatDuration(ms)}`;
}

/** The status of a request and the decisions on it. */
export function Outcome(props: { approval: Approval }) {
  return (
    <div class="outcome">
      <p>
        <span class={`tag ${OUTCOME[props.approval.status].tone}`}>{OUTCOME[props.approval.status].word}</span>
        <Show when={props.approval.session}>
          {(session) => (
            <>
              {" "}
              <a href={sessionHash(session())}>View session</a>
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
              {decisionText(each)}{" "}
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
