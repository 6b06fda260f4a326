import { createResource, createSignal, For, onCleanup, Show } from "solid-js";
import { formatDuration } from "../../../../../src/text/format.ts";
import { useKeys } from "../../../keys/bindings.ts";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { LinkDialog } from "./link-dialog.tsx";
import { type Drawn, drawTerminal } from "./make.ts";
import { loadRecording, type Recording } from "./recording.ts";
import "./terminal.css";

const SPEEDS = [1, 2, 4, 16];

/** A player for the recording of a terminal session. */
export default function Replay(props: { id: string }) {
  const stop = new AbortController();
  onCleanup(() => stop.abort());
  const [recording] = createResource(() => loadRecording(props.id, stop.signal));
  return (
    <Show when={!recording.error} fallback={<ErrorNote error={recording.error} />}>
      <Show when={recording()} fallback={<p class="center muted">Loading the recording…</p>}>
        {(loaded) => <Player recording={loaded()} />}
      </Show>
    </Show>
  );
}

function Player(props: { recording: Recording }) {
  const [at, setAt] = createSignal(0);
  const [playing, setPlaying] = createSignal(false);
  const [speed, setSpeed] = createSignal(1);
  const [link, setLink] = createSignal<string | null>(null);
  let drawn: Drawn | undefined;
  let next = 0;
  let frame = 0;
  let before = 0;

  const mount = (place: HTMLDivElement): void => {
    queueMicrotask(() => {
      drawn = drawTerminal(place, props.recording.size, { input: false, onLink: setLink });
      seek(props.recording.duration);
    });
  };
  onCleanup(() => {
    cancelAnimationFrame(frame);
    drawn?.dispose();
  });

  /** Shows the screen at a time. Seeking backwards replays from the start, which is fast. */
  function seek(time: number): void {
    if (!drawn) return;
    const { terminal } = drawn;
    if (time < at() || next === 0) {
      terminal.reset();
      terminal.resize(props.recording.size.columns, props.recording.size.rows);
      next = 0;
    }
    const { events } = props.recording;
    for (let event = events[next]; event !== undefined && event.at <= time; event = events[next]) {
      if (event.resize) terminal.resize(Math.max(2, event.resize.columns), Math.max(1, event.resize.rows));
      else terminal.write(event.data);
      next += 1;
    }
    setAt(time);
  }
  function tick(now: number): void {
    const time = Math.min(props.recording.duration, at() + ((now - before) / 1000) * speed());
    before = now;
    seek(time);
    if (time >= props.recording.duration) setPlaying(false);
    else if (playing()) frame = requestAnimationFrame(tick);
  }
  function toggle(): void {
    setPlaying(!playing());
    cancelAnimationFrame(frame);
    if (!playing()) return;
    if (at() >= props.recording.duration) seek(0);
    before = performance.now();
    frame = requestAnimationFrame(tick);
  }
  const step = (seconds: number): void => seek(Math.max(0, Math.min(props.recording.duration, at() + seconds)));

  useKeys("Replay", [
    { keys: "p", does: "Play or pause", run: toggle },
    { keys: "ArrowRight", does: "Forward 5 seconds", run: () => step(5) },
    { keys: "ArrowLeft", does: "Back 5 seconds", run: () => step(-5) },
  ]);
  const clock = (seconds: number) => formatDuration(Math.round(seconds * 10) * 100);

  return (
    <section class="terminal-tab" aria-label="Replay">
      <div class="terminal-tools">
        <button type="button" class="small primary" onClick={toggle}>
          <Icon name={playing() ? "pause" : "play"} />
          {playing() ? "Pause" : "Play"}
        </button>
        <input
          type="range"
          class="time-line"
          aria-label="Time"
          aria-valuetext={`${clock(at())} of ${clock(props.recording.duration)}`}
          min={0}
          max={props.recording.duration}
          step={0.01}
          value={at()}
          onInput={(event) => seek(Number(event.currentTarget.value))}
        />
        <span class="hint time">
          {clock(at())} / {clock(props.recording.duration)}
        </span>
        <div class="segments" role="group" aria-label="Speed">
          <For each={SPEEDS}>
            {(each) => (
              <button type="button" aria-pressed={speed() === each} onClick={() => setSpeed(each)}>
                {each}×
              </button>
            )}
          </For>
        </div>
      </div>
      <Show when={props.recording.cut}>
        <p class="note warn">The recording is too long to load completely. Only the beginning is shown.</p>
      </Show>
      <div ref={mount} class="terminal-place" data-takes-keys />
      <p class="hint">Pauses are shortened to 2 seconds.</p>
      <LinkDialog target={link()} onClose={() => setLink(null)} />
    </section>
  );
}
