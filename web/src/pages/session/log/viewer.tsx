import { createEffect, createMemo, createSignal, For, on, onCleanup, onMount, Show, untrack } from "solid-js";
import { useKeys } from "../../../keys/bindings.ts";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { createLog, type LogStream } from "./log.ts";
import { LogRow } from "./row.tsx";
import { type Row, rowAt, rowsOf, UNWRAPPED } from "./rows.ts";
import { createSearch, SearchBar } from "./search.tsx";
import { LogTools } from "./tools.tsx";
import "./log.css";
import { formatSize } from "../../../../../src/text/format.ts";

const ROW = 20;
const BEYOND = 12;
/** Maximum height of the parts outside the loaded region, in pixels. Browsers allow about 30 million. */
const TALLEST = 8_000_000;
const JUMP_MS = 70;
const TIME_CELLS = 14;

export interface LogSettings {
  stream: LogStream;
  wrap: boolean;
  times: boolean;
  raw: boolean;
}

/** A viewer for logs of any size. It loads the visible region by byte offset. */
export function LogViewer(props: { id: string; live: boolean; apart: boolean }) {
  const [settings, setSettings] = createSignal<LogSettings>({ stream: "merged", wrap: true, times: false, raw: false });
  const stream = createMemo(() => settings().stream);
  return (
    <Show when={stream()} keyed>
      {(chosen) => (
        <OneStream
          {...props}
          stream={chosen}
          settings={settings()}
          onSettings={(next) => setSettings({ ...settings(), ...next })}
        />
      )}
    </Show>
  );
}

function OneStream(props: {
  id: string;
  live: boolean;
  apart: boolean;
  stream: LogStream;
  settings: LogSettings;
  onSettings: (next: Partial<LogSettings>) => void;
}) {
  const log = createLog(props.id, props.stream);
  const [columns, setColumns] = createSignal(120);
  const [top, setTop] = createSignal(0);
  const [height, setHeight] = createSignal(600);
  const [pinned, setPinned] = createSignal(props.live);
  const [opened, setOpened] = createSignal(false);
  let view!: HTMLDivElement;
  let space!: HTMLDivElement;
  let block!: HTMLDivElement;
  let ruler!: HTMLSpanElement;
  let jumping = 0;

  const rows = createMemo(() => rowsOf(log.region(), props.settings.wrap ? columns() : UNWRAPPED, props.settings.raw));
  const layout = createMemo(() => {
    const { from, to } = log.region();
    const count = rows().length;
    const perByte = count / Math.max(1, to - from);
    const outside = (from + Math.max(0, log.total() - to)) * perByte * ROW;
    const scale = outside > TALLEST ? TALLEST / outside : 1;
    const before = from * perByte * ROW * scale;
    const after = Math.max(0, log.total() - to) * perByte * ROW * scale;
    return { before, inside: count * ROW, after };
  });
  const first = createMemo(() => Math.max(0, Math.floor((top() - layout().before) / ROW) - BEYOND));
  const shown = createMemo(() => rows().slice(first(), first() + Math.ceil(height() / ROW) + 2 * BEYOND));
  const search = createSearch(props.id, props.stream, (position) => void jumpTo(position));

  createEffect(() => block.style.setProperty("transform", `translateY(${layout().before + first() * ROW}px)`));

  /** The row at the top of the view, which keeps its place when more of the log is loaded. */
  let anchor: { position: number; part: number; delta: number } | null = null;
  createEffect(
    on([rows, layout], () => {
      // The height is set before the scroll position, which would otherwise be clamped to the old height.
      space.style.setProperty("height", `${layout().before + layout().inside + layout().after}px`);
      if (pinned()) toEnd();
      else if (anchor) {
        const index = rowAt(rows(), anchor.position, anchor.part);
        scrollTo(layout().before + index * ROW + anchor.delta);
      }
    }),
  );
  function remember(): void {
    const index = Math.floor((view.scrollTop - layout().before) / ROW);
    const row: Row | undefined = rows()[Math.max(0, index)];
    if (row)
      anchor = { position: row.line.position, part: row.part, delta: view.scrollTop - layout().before - index * ROW };
  }
  function scrollTo(y: number): void {
    view.scrollTop = y;
    setTop(view.scrollTop);
  }
  const toEnd = (): void => scrollTo(view.scrollHeight);

  function scrolled(): void {
    setTop(view.scrollTop);
    const { before, inside, after } = layout();
    const bottom = view.scrollTop + view.clientHeight;
    const atEnd = bottom >= view.scrollHeight - 3;
    setPinned(atEnd && (log.region().to >= log.total() || pinned()));
    const outside = bottom < before || view.scrollTop > before + inside;
    window.clearTimeout(jumping);
    if (outside || (atEnd && after > 0)) {
      jumping = window.setTimeout(() => void jump(before, inside, after), JUMP_MS);
      return;
    }
    remember();
    const near = view.clientHeight * 2;
    if (view.scrollTop < before + near && before > 0) void log.extend("before");
    else if (bottom > before + inside - near && after > 0) void log.extend("after");
  }

  /** Opens the log at the position that the scroll bar was dragged to. */
  async function jump(before: number, inside: number, after: number): Promise<void> {
    const { from, to } = log.region();
    const y = view.scrollTop;
    if (y + view.clientHeight >= view.scrollHeight - 3) return goEnd();
    const position = y < before ? (y / before) * from : to + ((y - before - inside) / after) * (log.total() - to);
    await jumpTo(Math.floor(position));
  }
  async function jumpTo(position: number): Promise<void> {
    setPinned(false);
    anchor = { position, part: 0, delta: 0 };
    const { from, to } = log.region();
    if (position < from || position >= to) await log.openAt(position);
    const index = rowAt(rows(), position);
    scrollTo(layout().before + Math.max(0, index - 3) * ROW);
    remember();
  }
  async function goEnd(): Promise<void> {
    setPinned(true);
    if (props.live || log.region().to < log.total()) await log.openEnd();
    toEnd();
  }

  onMount(() => {
    const measure = (): void => {
      setHeight(view.clientHeight);
      const cell = ruler.getBoundingClientRect().width / 10;
      const room = view.clientWidth - 26;
      setColumns(Math.max(20, Math.floor(room / cell) - (props.settings.times ? TIME_CELLS : 0)));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(view);
    createEffect(measure);
    onCleanup(() => observer.disconnect());
    void (props.live ? log.openEnd() : log.openAt(0)).then(() => setOpened(true));
  });
  // Reads the log once more when the session ends, for output written since the last update.
  const live = createMemo(() => props.live);
  createEffect(
    on(
      live,
      (isLive) => {
        if (!isLive) void (pinned() ? log.openEnd() : log.learnTotal());
      },
      { defer: true },
    ),
  );
  // Follows only while the page is visible: a browser allows few connections to one host.
  const [visible, setVisible] = createSignal(document.visibilityState === "visible");
  const visibilityChanged = (): void => void setVisible(document.visibilityState === "visible");
  document.addEventListener("visibilitychange", visibilityChanged);
  createEffect(() => {
    const wanted = opened() && props.live && pinned() && visible();
    untrack(() => (wanted ? log.startFollowing() : log.stopFollowing()));
  });
  onCleanup(() => {
    document.removeEventListener("visibilitychange", visibilityChanged);
    window.clearTimeout(jumping);
  });

  useKeys("Log", [
    { keys: "/", does: "Search", run: () => search.focus() },
    { keys: "n", does: "Next match", run: () => search.step(1) },
    { keys: "N", does: "Previous match", run: () => search.step(-1) },
    { keys: "f", does: "Follow output", run: () => void goEnd() },
    { keys: "Home", does: "Go to start", run: () => void jumpTo(0) },
    { keys: "End", does: "Go to end", run: () => void goEnd() },
    { keys: "w", does: "Wrap lines", run: () => props.onSettings({ wrap: !props.settings.wrap }) },
    { keys: "t", does: "Show timestamps", run: () => props.onSettings({ times: !props.settings.times }) },
    { keys: "c", does: "Show control characters", run: () => props.onSettings({ raw: !props.settings.raw }) },
  ]);

  return (
    <section class="log" aria-label="Log">
      <LogTools
        id={props.id}
        apart={props.apart}
        live={props.live}
        pinned={pinned()}
        settings={props.settings}
        onSettings={props.onSettings}
        onEnd={() => void goEnd()}
        onStart={() => void jumpTo(0)}
      >
        <SearchBar search={search} />
      </LogTools>
      <Show when={log.error()}>
        <ErrorNote error={log.error()} />
      </Show>
      <div
        ref={view}
        class="log-view"
        role="region"
        aria-label={`Output, ${formatSize(log.total())}`}
        tabIndex={0}
        data-wrap={props.settings.wrap}
        onScroll={scrolled}
      >
        <span ref={ruler} class="ruler" aria-hidden="true">
          0000000000
        </span>
        <div ref={space} class="log-space">
          <div ref={block} class="log-block">
            <For each={shown()}>
              {(row) => <LogRow row={row} times={props.settings.times} apart={props.apart} query={search.query()} />}
            </For>
          </div>
        </div>
        <Show when={log.total() === 0 && !log.loading()}>
          <p class="center muted">{props.live ? "No output yet" : "No output"}</p>
        </Show>
      </div>
    </section>
  );
}
