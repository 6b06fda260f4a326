import type { Component } from "solid-js";

/** An input for the working directory of a command. */
export const FolderField: Component<{ class: string; value: string; onInput(folder: string): void }> = (props) => (
  <label class={props.class}>
    Working directory
    <input
      class="mono"
      spellcheck={false}
      placeholder="workspace"
      value={props.value}
      onInput={(event) => props.onInput(event.currentTarget.value)}
    />
  </label>
);
