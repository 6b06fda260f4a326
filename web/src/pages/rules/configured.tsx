import { For, Show } from "solid-js";
import type { AllowEntry, UserRule } from "../../../../src/core/policy.ts";
import type { RulesAnswer } from "../../api/shapes.ts";
import { Prose } from "../../ui/prose.tsx";
import { Shown } from "../../ui/shown.tsx";
import { Ago, Until } from "../../ui/time.tsx";

const TONES = { allow: "good", ask: "warn", deny: "bad" };

/** The rules and the allowlist in sallyport.json. They cannot be edited here. */
export function Configured(props: { configured: RulesAnswer["configured"] }) {
  const isEmpty = () => props.configured.rules.length + props.configured.allowlist.length === 0;
  return (
    <section class="rules-section" aria-labelledby="configured">
      <h2 id="configured">Configured rules</h2>
      <Show
        when={!isEmpty()}
        fallback={
          <p class="card nothing">
            <span>
              No rules or allowlist entries in <code>sallyport.json</code>.
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
        To change these, edit <code>sallyport.json</code>. Changes apply from the next command on.
      </p>
    </section>
  );
}

function RuleItem(props: { rule: UserRule }) {
  const pattern = () =>
    props.rule.pattern ??
    (props.rule.prefix ?? []).map((part) => (typeof part === "string" ? part : part.join("|"))).join(" ");
  return (
    <li>
      <span class={`tag ${TONES[props.rule.decision]}`}>{props.rule.decision}</span>
      <code>
        <Shown text={pattern()} />
      </code>
      <Show when={props.rule.message}>
        {(message) => (
          <span class="hint">
            <Prose text={message()} />
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
              expires in <Until at={at()} />,{" "}
            </>
          )}
        </Show>
        <Show when={props.entry.lastUsed} fallback="never used">
          {(at) => (
            <>
              last used <Ago at={at()} /> ago
            </>
          )}
        </Show>
      </span>
    </li>
  );
}
