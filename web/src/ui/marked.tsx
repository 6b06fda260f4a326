import { createMemo, For } from "solid-js";
import { Shown } from "./shown.tsx";
import { type Mark, stretches } from "./stretches.ts";

/** A text with parts of it pointed out. `plain`: only to lie behind a field, where every character has its place. */
export function Marked(props: { text: string; marks: readonly Mark[]; plain?: boolean }) {
  const parts = createMemo(() => stretches(props.text, props.marks));
  const Words = (inner: { text: string }) => (props.plain ? inner.text : <Shown text={inner.text} lines />);
  return (
    <For each={parts()}>
      {(part) =>
        part.kinds.length === 0 ? (
          <Words text={part.text} />
        ) : part.kinds.some((kind) => kind.startsWith("risky")) ? (
          <mark class={part.kinds.join(" ")} title={part.why}>
            <Words text={part.text} />
          </mark>
        ) : (
          <span class={part.kinds.join(" ")} title={part.why}>
            <Words text={part.text} />
          </span>
        )
      }
    </For>
  );
}
