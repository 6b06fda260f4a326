import { For, Show } from "solid-js";
import type { Recovery } from "../../../src/core/error.ts";
import { ApiError } from "../api/client.ts";
import { Prose } from "./prose.tsx";

/** An error message with its recovery hints (invariant 8). */
export function ErrorNote(props: { error: unknown; onClose?: () => void }) {
  const recovery = () => (props.error instanceof ApiError ? props.error.recovery : []);
  const message = () => (props.error instanceof Error ? props.error.message : String(props.error));
  return (
    <div class="note bad" role="alert">
      <p>
        <Prose text={message()} />
      </p>
      <Show when={recovery().length > 0}>
        <Hints recovery={recovery()} />
      </Show>
      <Show when={props.onClose}>
        {(close) => (
          <button type="button" class="quiet small" onClick={() => close()()}>
            Dismiss
          </button>
        )}
      </Show>
    </div>
  );
}

/** The recovery hints of an error as a list. */
export function Hints(props: { recovery: readonly Recovery[] }) {
  return (
    <ul>
      <For each={props.recovery}>
        {({ hint }) => (
          <li>
            <Prose text={hint} />
          </li>
        )}
      </For>
    </ul>
  );
}
