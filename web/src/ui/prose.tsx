import { createMemo, For } from "solid-js";
import { Shown } from "./shown.tsx";

/** A message in which text between backticks is set as code. Like all untrusted text it is only ever a text node. */
export function Prose(props: { text: string }) {
  const parts = createMemo(() => props.text.split(/`([^`]+)`/));
  return (
    <For each={parts()}>
      {(part, index) =>
        index() % 2 === 1 ? (
          <code>
            <Shown text={part} />
          </code>
        ) : (
          <Shown text={part} />
        )
      }
    </For>
  );
}
