import { For, Show } from "solid-js";
import type { CommandFact } from "../../../../src/core/facts.ts";
import { Prose } from "../../ui/prose.tsx";
import { Shown } from "../../ui/shown.tsx";

const EFFECTS = { delete: "deletes", write: "writes", mode: "changes the mode of" };

/** Every command found in the text, including those inside wrappers such as `sudo` or `sh -c`. */
export function FoundCommands(props: { commands: readonly CommandFact[] }) {
  return (
    <section class="card padded" aria-label="Commands found">
      <h2>Commands found</h2>
      <ul class="found">
        <For each={props.commands}>{(fact) => <Found fact={fact} />}</For>
      </ul>
    </section>
  );
}

function Found(props: { fact: CommandFact }) {
  const line = () => props.fact.argv.map((word) => word.value ?? word.source).join(" ");
  const program = () => {
    const { resolved, kind } = props.fact.executable;
    return resolved ?? (kind === "builtin" ? "shell builtin" : kind.replace("-", " "));
  };
  return (
    <li>
      <code>
        <Shown text={line()} />
      </code>
      <span class="muted">
        <Shown text={program()} />
        <Show when={props.fact.via.length > 0}>
          , via <Shown text={props.fact.via.join(", ")} />
        </Show>
      </span>
      <span class="tags">
        <For each={props.fact.targets}>
          {(target) => (
            <span class={`tag ${target.effect === "delete" ? "bad" : "warn"}`}>
              {EFFECTS[target.effect]} <Shown text={target.path} />
              {target.recursive ? " recursively" : ""}
            </span>
          )}
        </For>
        <For each={props.fact.network}>
          {(host) => (
            <span class="tag odd">
              connects to <Shown text={host} />
            </span>
          )}
        </For>
        <Show when={props.fact.remote}>
          <span class="tag odd">runs on another host or in a container</span>
        </Show>
        <Show when={props.fact.opaque}>
          {(interpreter) => (
            <span class="tag warn">
              passes code to <Shown text={interpreter()} />
            </span>
          )}
        </Show>
        <For each={props.fact.unknowns}>
          {(unknown) => (
            <span class="tag">
              unknown: <Prose text={unknown.why} />
            </span>
          )}
        </For>
      </span>
    </li>
  );
}
