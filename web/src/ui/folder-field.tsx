import type { Component } from "solid-js";

/** Where a command would run. */
export const FolderField: Component<{ class: string; value: string; onInput(folder: string): void }> = (props) => (
  <label class={props.class}>
    In folder
    <input
      class="mono"
      spellcheck={false}
      placeholder="the workspace"
      value={props.value}
      onInput={(event) => props.onInput(event.currentTarget.value)}
    />
  </label>
);
