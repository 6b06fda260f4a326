import { createEffect, createUniqueId, type JSX, Show } from "solid-js";
import { Icon } from "./icon.tsx";

/** A native modal dialog, which traps the focus, closes on Escape and restores the focus. */
export function Dialog(props: { title: string; open: boolean; onClose: () => void; children: JSX.Element }) {
  const heading = createUniqueId();
  let element: HTMLDialogElement | undefined;
  createEffect(() => {
    if (props.open && !element?.open) element?.showModal();
    if (!props.open && element?.open) element.close();
  });
  return (
    <dialog ref={element} aria-labelledby={heading} onClose={() => props.onClose()}>
      <Show when={props.open}>
        <header class="dialog-head">
          <h2 id={heading}>{props.title}</h2>
          <button type="button" class="quiet icon-only" aria-label="Close" onClick={() => props.onClose()}>
            <Icon name="close" />
          </button>
        </header>
        {props.children}
      </Show>
    </dialog>
  );
}
