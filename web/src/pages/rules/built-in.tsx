import { For } from "solid-js";
import type { RulesAnswer } from "../../api/shapes.ts";
import { Prose } from "../../ui/prose.tsx";

/** The built-in rules. Blocks are permanent; denials can be lifted in the configuration (`allowDenied`). */
export function BuiltIn(props: { rules: RulesAnswer["builtIn"] }) {
  const blocked = () => props.rules.filter(({ tier }) => tier === "blocked").length;
  return (
    <details class="card built-in">
      <summary>
        <h2>Built-in rules</h2>
        <span class="muted">
          {blocked()} permanent blocks, {props.rules.length - blocked()} default denials
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
                <Prose text={rule.message} />{" "}
                <span class="hint">
                  <Prose text={rule.suggestion} />
                </span>
              </span>
            </li>
          )}
        </For>
      </ul>
    </details>
  );
}
