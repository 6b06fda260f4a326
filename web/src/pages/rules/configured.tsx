import { For, Show } from "solid-js";
import type { AllowEntry, UserRule } from "../../../../src/core/policy.ts";
import type { RulesAnswer } from "../../api/shapes.ts";
import { Shown } from "../../ui/shown.tsx";
import { Ago, Until } from "../../ui/time.tsx";

const TONES = { allow: "good", ask: "warn", deny: "bad" };

/** What stands in sallyport.json. It is changed there. */
export function Configured(props: { configured: RulesAnswer["configured"] }) {
  const nothing = () => props.configured.rules.length + props.configured.allowlist.length === 0;
  return (
    <section class="rules-section" aria-labelledby="configured">
      <h2 id="configured">Configured</h2>
      <Show
        when={!nothing()}
        fallback={
          <p class="card nothing">
            <span>
              No rule and no allowlist in <code>sallyport.json</code>.
            </span>
          </p>
        }
      >
        <ul class="card rule-list">
          <For each={props.configured.rules}>{(rule) => <RuleItem rule={rule} />}</For>
          <For each={props.configured.allowlist}>{(entry) => <AllowItem entry={entry} />}</For>
        </ul>
      </Show>
      <p class="hint">
        These are changed in <code>sallyport.json</code>, and count from the next command on.
      </p>
    </section>
  );
}

function RuleItem(props: { rule: UserRule }) {
  const words = () =>
    props.rule.pattern ??
    (props.rule.prefix ?? []).map((word) => (typeof word === "string" ? word : word.join("|"))).join(" ");
  return (
    <li>
      <span class={`tag ${TONES[props.rule.decision]}`}>{props.rule.decision}</span>
      <code>
        <Shown text={words()} />
      </code>
      <Show when={props.rule.message}>
        {(message) => (
          <span class="hint">
            <Shown text={message()} />
          </span>
        )}
      </Show>
    </li>
  );
}

function AllowItem(props: { entry: AllowEntry }) {
  return (
    <li>
      <span class="tag good">allowlist</span>
      <code>
        <Shown text={[props.entry.pattern, props.entry.args].filter(Boolean).join(" ")} />
      </code>
      <span class="hint">
        <Show when={props.entry.agent}>
          {(agent) => (
            <>
              for <Shown text={agent()} />,{" "}
            </>
          )}
        </Show>
        <Show when={props.entry.expires}>
          {(at) => (
            <>
              <Until at={at()} /> left,{" "}
            </>
          )}
        </Show>
        <Show when={props.entry.lastUsed} fallback="not used yet">
          {(at) => (
            <>
              used <Ago at={at()} /> ago
            </>
          )}
        </Show>
      </span>
    </li>
  );
}
