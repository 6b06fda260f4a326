import { createMemo, For } from "solid-js";
import { piecesOf } from "./pieces.ts";

/** Untrusted text from commands, agents or files. It only ever becomes a text node. */
export function Shown(props: { text: string; lines?: boolean }) {
  const pieces = createMemo(() => piecesOf(props.text, props.lines));
  return (
    <For each={pieces()}>
      {(piece) => (piece.hidden ? <span class="hidden-char">{piece.text}</span> : <bdi>{piece.text}</bdi>)}
    </For>
  );
}
