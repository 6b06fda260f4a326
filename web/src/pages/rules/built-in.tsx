import { For } from "solid-js";
import type { RulesAnswer } from "../../api/shapes.ts";

/** The rules that are always there. Blocks are lifted by nothing; denials by a person who names them in the configuration. */
export function BuiltIn(props: { rules: RulesAnswer["builtIn"] }) {
  const blocked = () => props.rules.filter(({ tier }) => tier === "blocked").length;
  return (
    <details class="card built-in">
      <summary>
        <h2>Built in</h2>
        <span class="muted">
          {blocked()} blocks that nothing lifts, {props.rules.length - blocked()} denials
        </span>
      </summary>
      <ul class="rule-list">
        <For each={props.rules}>
          {(rule) => (
            <li>
              <span class={`tag ${rule.tier === "blocked" ? "bad" : "warn"}`}>
                {rule.tier === "blocked" ? "blocked" : "denied"}
              </span>
              <code>{rule.id}</code>
              <span>
                {rule.message} <span class="hint">{rule.suggestion}</span>
              </span>
            </li>
          )}
        </For>
      </ul>
    </details>
  );
}
