import { Marked } from "../../ui/marked.tsx";
import type { Mark } from "../../ui/stretches.ts";

/** A text field with underlined parts. A copy of the text behind the field has the marks. */
export function CommandField(props: {
  value: string;
  marks: readonly Mark[];
  onInput: (value: string) => void;
  field: (element: HTMLTextAreaElement) => void;
}) {
  let behind!: HTMLPreElement;
  return (
    <div class="command-field">
      <pre ref={behind} class="behind" aria-hidden="true">
        <Marked text={props.value} marks={props.marks} plain />
        {"\n"}
      </pre>
      <textarea
        ref={props.field}
        aria-label="Command"
        placeholder="Enter a command"
        rows={4}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        dir="ltr"
        value={props.value}
        onInput={(event) => props.onInput(event.currentTarget.value)}
        onScroll={(event) => {
          behind.scrollTop = event.currentTarget.scrollTop;
        }}
      />
    </div>
  );
}
