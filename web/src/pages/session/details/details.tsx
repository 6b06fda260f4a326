import { For, Show } from "solid-js";
import type { SessionDetails } from "../../../api/shapes.ts";
import { Prose } from "../../../ui/prose.tsx";
import { Shown } from "../../../ui/shown.tsx";
import { ApprovalFacts, Fact } from "../../approvals/details.tsx";
import { Outcome } from "../../approvals/outcome.tsx";
import { VERDICTS } from "../../policy-check/verdicts.ts";
import "../../approvals/approvals.css";
import { worded } from "../../../../../src/core/next-step.ts";
import { HTTP_WORDING } from "../../../../../src/http/next-steps.ts";
import { sessionDetails } from "../../../../../src/session/details.ts";

/** Labels of `sessionDetails` that are shown elsewhere on the page. */
const SHOWN_ELSEWHERE = new Set(["command", "variables", "warning", "hint", "error", ""]);

/** Labels that are not simply capitalized. */
const LABELS: Record<string, string> = {
  cpu: "CPU time",
  cwd: "Working directory",
  "i/o": "I/O",
  id: "ID",
  pid: "PID",
  stderr: "stderr",
  stdout: "stdout",
};

function labelOf(label: string): string {
  return LABELS[label] ?? label.charAt(0).toUpperCase() + label.slice(1);
}

/** The recorded details of a session: the command, its verdict and its approval. */
export function DetailsTab(props: { info: SessionDetails }) {
  const pairs = () => sessionDetails(props.info, HTTP_WORDING).filter(([label]) => !SHOWN_ELSEWHERE.has(label));
  return (
    <div class="fact-columns">
      <section class="card padded" aria-labelledby="facts-command">
        <h2 id="facts-command">Command</h2>
        <dl class="facts">
          <For each={pairs()}>
            {([label, value]) => (
              <Fact name={labelOf(label)}>
                <Shown text={String(value)} />
              </Fact>
            )}
          </For>
          <Show when={props.info.envNames.length > 0}>
            <Fact name="Variables">
              <p class="names">
                <For each={props.info.envNames}>
                  {(name) => (
                    <code class="name">
                      <Shown text={name} />
                    </code>
                  )}
                </For>
              </p>
              <p class="hint">Values are not recorded.</p>
            </Fact>
          </Show>
          <Show when={props.info.hints.length > 0}>
            <Fact name="Hints for the agent">
              <For each={worded(props.info.hints, HTTP_WORDING)}>
                {({ hint }) => (
                  <p>
                    <Prose text={hint} />
                  </p>
                )}
              </For>
            </Fact>
          </Show>
        </dl>
      </section>
      <div class="fact-column">
        <Show when={props.info.verdict}>
          {(verdict) => (
            <section class="card padded" aria-labelledby="facts-verdict">
              <h2 id="facts-verdict">Verdict</h2>
              <dl class="facts">
                <Fact name="Decision">
                  <span class={`tag ${VERDICTS[verdict().verdict].tone}`}>{VERDICTS[verdict().verdict].word}</span>
                </Fact>
                <Fact name="Rules">
                  <Show when={verdict().rules.length > 0} fallback={<span class="muted">No rule matched</span>}>
                    <For each={verdict().rules}>
                      {(rule) => (
                        <code class="rule">
                          <Shown text={rule} />
                        </code>
                      )}
                    </For>
                  </Show>
                </Fact>
                <Show when={verdict().programs.length > 0}>
                  <Fact name="Programs">
                    <For each={verdict().programs}>
                      {(program) => (
                        <code class="line">
                          <Shown text={program} />
                        </code>
                      )}
                    </For>
                  </Fact>
                </Show>
              </dl>
            </section>
          )}
        </Show>
        <Show when={props.info.approval}>
          {(approval) => (
            <section class="card padded" aria-labelledby="facts-approval">
              <h2 id="facts-approval">Approval</h2>
              <Outcome approval={approval()} />
              <ApprovalFacts approval={approval()} />
            </section>
          )}
        </Show>
      </div>
    </div>
  );
}
