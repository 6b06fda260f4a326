import { For, Show } from "solid-js";
import type { SessionDetails } from "../../../api/shapes.ts";
import { Shown } from "../../../ui/shown.tsx";
import { ApprovalFacts, Fact } from "../../approvals/details.tsx";
import { Outcome } from "../../approvals/outcome.tsx";
import "../../approvals/approvals.css";
import { sessionDetails } from "../../../../../src/session/details.ts";

const NOT_HERE = new Set(["command", "variables", "warning", "hint", "error", ""]);

/** All that is known about a command: what it was, why it was let in, and what kept it in bounds. */
export function FactsTab(props: { info: SessionDetails }) {
  const pairs = () => sessionDetails(props.info).filter(([label]) => !NOT_HERE.has(label));
  return (
    <div class="fact-columns">
      <section class="card padded" aria-labelledby="facts-command">
        <h2 id="facts-command">The command</h2>
        <dl class="facts">
          <For each={pairs()}>
            {([label, value]) => (
              <Fact name={label}>
                <Shown text={String(value)} />
              </Fact>
            )}
          </For>
          <Show when={props.info.envNames.length > 0}>
            <Fact name="variables">
              <p class="names">
                <For each={props.info.envNames}>
                  {(name) => (
                    <code class="name">
                      <Shown text={name} />
                    </code>
                  )}
                </For>
              </p>
              <p class="hint">Names only: values are not kept.</p>
            </Fact>
          </Show>
        </dl>
      </section>
      <div class="fact-column">
        <Show when={props.info.verdict}>
          {(verdict) => (
            <section class="card padded" aria-labelledby="facts-verdict">
              <h2 id="facts-verdict">The verdict</h2>
              <dl class="facts">
                <Fact name="Decision">
                  <span class={`tag ${tone(verdict().verdict)}`}>{verdict().verdict}</span>
                </Fact>
                <Fact name="Rules">
                  <Show when={verdict().rules.length > 0} fallback={<span class="muted">none matched</span>}>
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
              <h2 id="facts-approval">The approval</h2>
              <Outcome approval={approval()} />
              <ApprovalFacts approval={approval()} />
            </section>
          )}
        </Show>
      </div>
    </div>
  );
}

const tone = (verdict: string): string => ({ allow: "good", ask: "warn", deny: "bad", blocked: "bad" })[verdict] ?? "";
