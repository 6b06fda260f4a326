import { createEffect, createMemo, createSignal, onCleanup, Show } from "solid-js";
import type { ApprovalRequest } from "../../../../src/core/approval.ts";
import { Marked } from "../../ui/marked.tsx";
import type { Mark } from "../../ui/stretches.ts";

/** The complete command with its risky parts highlighted. Calls `onEndSeen` once its end has been in view. */
export function CommandBlock(props: { request: ApprovalRequest; onEndSeen?: () => void }) {
  const [cut, setCut] = createSignal(false);
  let box!: HTMLPreElement;
  let end!: HTMLSpanElement;
  const marks = createMemo((): Mark[] => [
    ...props.request.reasons.flatMap(({ span, message }) => (span ? [{ ...span, kind: "risky", why: message }] : [])),
    ...props.request.command.marks.map((span) => ({
      ...span,
      kind: "hidden-char",
      why: "Invisible or misleading characters, shown as codes",
    })),
  ]);
  createEffect(() => {
    props.request;
    const observer = new IntersectionObserver(
      ([entry]) => {
        setCut(!entry?.isIntersecting);
        if (entry?.isIntersecting) props.onEndSeen?.();
      },
      { threshold: 0 },
    );
    observer.observe(end);
    onCleanup(() => observer.disconnect());
  });
  return (
    <figure class="command-block">
      <pre ref={box} tabIndex={0} aria-label="Full command" role="group">
        <Marked text={props.request.command.text} marks={marks()} />
        <span ref={end} class="end-of-command" />
      </pre>
      <Show when={cut()}>
        <button type="button" class="small more" onClick={() => box.scrollTo({ top: box.scrollHeight })}>
          Scroll to the end of the command
        </button>
      </Show>
    </figure>
  );
}
