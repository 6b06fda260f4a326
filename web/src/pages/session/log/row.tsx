import { For, Show } from "solid-js";
import { formatSize } from "../../../../../src/text/format.ts";
import { timeOfDay } from "../../../ui/clock.ts";
import type { Run } from "./render.ts";
import type { Row } from "./rows.ts";
import type { Pen } from "./sgr.ts";

export function LogRow(props: { row: Row; times: boolean; apart: boolean; query: string }) {
  return (
    <div class="log-row" data-stream={props.apart ? props.row.line.stream : undefined} data-part={props.row.part}>
      <Show when={props.times}>
        <span class="log-time">
          {props.row.part === 0 && props.row.line.timeMs !== null ? timeOfDay(props.row.line.timeMs) : ""}
        </span>
      </Show>
      <Show when={props.row.line.dropped > 0 && props.row.part === 0}>
        <span class="hidden-char">{formatSize(props.row.line.dropped)} dropped</span>
      </Show>
      <For each={props.row.runs}>{(run) => <RunSpan run={run} query={props.query} />}</For>
    </div>
  );
}

function RunSpan(props: { run: Run; query: string }) {
  return (
    <span
      ref={(element) => paint(element, props.run.pen)}
      class={props.run.hidden ? "hidden-char" : classes(props.run.pen)}
    >
      <Show when={props.query !== "" && !props.run.hidden} fallback={props.run.text}>
        <For each={around(props.run.text, props.query)}>
          {(part, index) => (index() % 2 === 1 ? <mark class="found">{part}</mark> : part)}
        </For>
      </Show>
    </span>
  );
}

/** Splits the text at the matches of a search. Every second part is a match. */
function around(text: string, query: string): string[] {
  const parts: string[] = [];
  const heap = text.toLowerCase();
  const needle = query.toLowerCase();
  let at = 0;
  for (let found = heap.indexOf(needle); found >= 0; found = heap.indexOf(needle, at)) {
    parts.push(text.slice(at, found), text.slice(found, found + needle.length));
    at = found + needle.length;
  }
  return [...parts, text.slice(at)];
}

function classes(pen: Pen): string {
  const { fg, bg } = pen.inverse ? { fg: pen.bg ?? "back", bg: pen.fg ?? "front" } : pen;
  const names = [
    typeof fg === "number" ? `fg${fg}` : fg === "back" ? "fg-back" : "",
    typeof bg === "number" ? `bg${bg}` : bg === "front" ? "bg-front" : "",
    pen.bold ? "b" : "",
    pen.dim ? "d" : "",
    pen.italic ? "i" : "",
    pen.underline ? "u" : "",
    pen.strike ? "s" : "",
  ];
  return names.filter(Boolean).join(" ");
}

/** Sets colors outside the palette of 16, which have no CSS class. */
function paint(element: HTMLElement, pen: Pen): void {
  const { fg, bg } = pen.inverse ? { fg: pen.bg, bg: pen.fg } : pen;
  if (typeof fg === "string") element.style.setProperty("color", fg);
  if (typeof bg === "string") element.style.setProperty("background", bg);
}
