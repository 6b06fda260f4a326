import { createMemo, For } from "solid-js";
import { Shown } from "./shown.tsx";
import { type Mark, stretches } from "./stretches.ts";

/** Returns the text without backticks, because a tooltip cannot show code in another font. */
const tooltip = (text: string | undefined): string | undefined => text?.replaceAll("`", "");

/**
 * Text with highlighted parts. `plain` leaves invisible characters as they are, for the copy behind a text field, where
 * both texts must line up.
 */
export function Marked(props: { text: string; marks: readonly Mark[]; plain?: boolean }) {
  const parts = createMemo(() => stretches(props.text, props.marks));
  const Part = (inner: { text: string }) => (props.plain ? inner.text : <Shown text={inner.text} lines />);
  return (
    <For each={parts()}>
      {(part) =>
        part.kinds.length === 0 ? (
          <Part text={part.text} />
        ) : part.kinds.some((kind) => kind.startsWith("risky")) ? (
          <mark class={part.kinds.join(" ")} title={tooltip(part.why)}>
            <Part text={part.text} />
          </mark>
        ) : (
          <span class={part.kinds.join(" ")} title={tooltip(part.why)}>
            <Part text={part.text} />
          </span>
        )
      }
    </For>
  );
}
