import { createEffect, createMemo, createSignal, For, type JSX, onCleanup, onMount } from "solid-js";

const BEYOND = 8;

export interface WindowedHandle {
  reveal(index: number): void;
  element: HTMLElement;
}

/** A list of rows of equal height that only renders the visible ones. */
export function Windowed(props: {
  ids: readonly string[];
  rowHeight: number;
  class: string;
  role?: "rowgroup" | "list";
  row: (id: string, index: () => number) => JSX.Element;
  handle?: (handle: WindowedHandle) => void;
}) {
  const [top, setTop] = createSignal(0);
  const [height, setHeight] = createSignal(600);
  let element!: HTMLDivElement;

  const first = createMemo(() => {
    const last = Math.max(0, props.ids.length - Math.ceil(height() / props.rowHeight));
    return Math.max(0, Math.min(Math.floor(top() / props.rowHeight), last) - BEYOND);
  });
  const shown = createMemo(() => {
    const count = Math.ceil(height() / props.rowHeight) + 2 * BEYOND;
    return props.ids.slice(first(), first() + count);
  });

  onMount(() => {
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    onCleanup(() => observer.disconnect());
    props.handle?.({ element, reveal });
  });

  function reveal(index: number): void {
    const from = index * props.rowHeight;
    if (from < element.scrollTop) element.scrollTop = from;
    const to = from + props.rowHeight - element.clientHeight;
    if (to > element.scrollTop) element.scrollTop = to;
    setTop(element.scrollTop);
  }

  let block!: HTMLDivElement;
  let space!: HTMLDivElement;
  createEffect(() => space.style.setProperty("height", `${props.ids.length * props.rowHeight}px`));
  createEffect(() => block.style.setProperty("transform", `translateY(${first() * props.rowHeight}px)`));

  return (
    <div ref={element} class={`windowed ${props.class}`} onScroll={() => setTop(element.scrollTop)}>
      <div ref={space} class="windowed-space">
        <div ref={block} class="windowed-block" role={props.role}>
          <For each={shown()}>{(id, index) => props.row(id, () => first() + index())}</For>
        </div>
      </div>
    </div>
  );
}
