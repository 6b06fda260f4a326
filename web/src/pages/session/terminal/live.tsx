import { createEffect, createSignal, on, onCleanup, onMount, Show } from "solid-js";
import type { TerminalSize } from "../../../../../src/core/terminal.ts";
import { may } from "../../../live/me.ts";
import { Icon } from "../../../ui/icon.tsx";
import { Prose } from "../../../ui/prose.tsx";
import { joinTerminal, type TerminalConnection } from "./connection.ts";
import { watchPerson } from "./harden.ts";
import { LinkDialog } from "./link-dialog.tsx";
import { type Drawn, drawTerminal } from "./make.ts";
import "./terminal.css";

type State = "joining" | "joined" | "again" | "over";
const STATES: Record<State, string> = {
  joining: "Connecting…",
  joined: "Live",
  again: "Disconnected. Reconnecting…",
  over: "Ended",
};

/** The live terminal of a session. Operators can type into it. */
export default function LiveTerminal(props: { id: string; size: TerminalSize; live: boolean }) {
  const [state, setState] = createSignal<State>("joining");
  const [typing, setTyping] = createSignal(false);
  const [refusal, setRefusal] = createSignal("");
  const [link, setLink] = createSignal<string | null>(null);
  const mayType = () => may("operator") && props.live;
  let place!: HTMLDivElement;
  let drawn: Drawn | undefined;
  let connection: TerminalConnection | undefined;

  onMount(() => {
    drawn = drawTerminal(place, props.size, { input: false, onLink: setLink });
    const { terminal } = drawn;
    const person = watchPerson(place);
    connection = joinTerminal(props.id, {
      // The first output repaints the whole screen, so older content is cleared.
      onOpen: () => {
        terminal.reset();
        setState("joined");
      },
      onBytes: (bytes) => terminal.write(bytes, () => connection?.drawn(bytes.length)),
      onMessage: (message) => {
        const { columns, rows } = message;
        if (message.type === "refused") setRefusal(String(message.message ?? "The input was rejected."));
        if (typeof columns === "number" && typeof rows === "number") resize({ columns, rows });
      },
      onClose: (again) => setState(again && props.live ? "again" : "over"),
    });
    terminal.onData((data) => {
      if (typing() && person.isActive()) connection?.send({ type: "input", data });
    });
    terminal.onBinary((data) => {
      if (typing() && person.isActive()) connection?.send({ type: "input", data });
    });
    onCleanup(() => {
      person.stop();
      connection?.close();
      drawn?.dispose();
    });
  });

  function resize({ columns, rows }: TerminalSize): void {
    drawn?.terminal.resize(columns, rows);
    drawn?.fit();
  }
  createEffect(
    on(
      () => [props.size.columns, props.size.rows],
      () => resize(props.size),
      { defer: true },
    ),
  );
  createEffect(() => {
    const on = typing() && mayType();
    if (!drawn) return;
    drawn.terminal.options.disableStdin = !on;
    drawn.terminal.options.cursorBlink = on;
    if (on) drawn.terminal.focus();
  });

  return (
    <section class="terminal-tab" aria-label="Terminal">
      <div class="terminal-tools">
        <p class="connection" data-state={state() === "joined" ? "live" : "waiting"} role="status">
          <span class="dot" />
          {STATES[state()]}
        </p>
        <span class="hint">
          {props.size.columns} × {props.size.rows}
        </span>
        <Show
          when={mayType()}
          fallback={<span class="hint">{props.live ? "Read-only: only operators can type." : ""}</span>}
        >
          <button type="button" class="small" aria-pressed={typing()} onClick={() => setTyping(!typing())}>
            <Icon name="keys" />
            {typing() ? "Release control" : "Take control"}
          </button>
        </Show>
      </div>
      <Show when={refusal() !== ""}>
        <p class="note bad" role="alert">
          <Prose text={refusal()} />
        </p>
      </Show>
      <div ref={place} class="terminal-place" data-takes-keys data-typing={typing()} />
      <LinkDialog target={link()} onClose={() => setLink(null)} />
    </section>
  );
}
