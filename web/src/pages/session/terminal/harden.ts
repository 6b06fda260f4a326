import type { IDisposable, Terminal } from "@xterm/xterm";

const taken = (): boolean => true;

/**
 * A program on somebody else's terminal must not reach through it to the person who looks on: no clipboard, no title, no
 * answers to its questions, which would come back to it as if they had been typed (promise 2).
 */
export function harden(terminal: Terminal): IDisposable[] {
  const { parser } = terminal;
  return [
    // Titles, and the icon's name.
    ...[0, 1, 2].map((code) => parser.registerOscHandler(code, taken)),
    // The clipboard.
    parser.registerOscHandler(52, taken),
    // Questions about colours; setting them is harmless.
    ...[4, 10, 11, 12].map((code) => parser.registerOscHandler(code, (data) => data.includes("?"))),
    // Who are you, in three ways, and which version.
    parser.registerCsiHandler({ final: "c" }, taken),
    parser.registerCsiHandler({ prefix: ">", final: "c" }, taken),
    parser.registerCsiHandler({ prefix: "=", final: "c" }, taken),
    parser.registerCsiHandler({ prefix: ">", final: "q" }, taken),
    // Where is the cursor, how are you.
    parser.registerCsiHandler({ final: "n" }, taken),
    parser.registerCsiHandler({ prefix: "?", final: "n" }, taken),
    // Which modes and settings are on.
    parser.registerCsiHandler({ intermediates: "$", final: "p" }, taken),
    parser.registerCsiHandler({ prefix: "?", intermediates: "$", final: "p" }, taken),
    parser.registerDcsHandler({ intermediates: "$", final: "q" }, taken),
    parser.registerDcsHandler({ intermediates: "+", final: "q" }, taken),
    parser.registerCsiHandler({ prefix: "?", final: "u" }, taken),
    parser.registerCsiHandler({ final: "x" }, taken),
    // The window: its size, its place, its title.
    parser.registerCsiHandler({ final: "t" }, taken),
    // Who has the focus is nobody's business: 1004 is not passed on, alone or among others.
    parser.registerCsiHandler({ prefix: "?", final: "h" }, (parameters) => parameters.includes(1004)),
  ];
}

/** A key, a paste or the pointer was used on this element so long ago at most. */
const HUMAN_MS = 100;

/**
 * Whether what the terminal wants to send can come from a person: it follows something they just did. The second lock
 * behind the first, should a question be forgotten above.
 */
export function watchPerson(element: HTMLElement): { isAtIt: () => boolean; stop: () => void } {
  let last = Number.NEGATIVE_INFINITY;
  const note = (event: Event): void => {
    if (event.isTrusted) last = performance.now();
  };
  const kinds = ["keydown", "keyup", "input", "paste", "compositionend", "mousedown", "mouseup", "mousemove", "wheel"];
  for (const kind of kinds) element.addEventListener(kind, note, { capture: true, passive: true });
  return {
    isAtIt: () => performance.now() - last < HUMAN_MS,
    stop: () => {
      for (const kind of kinds) element.removeEventListener(kind, note, { capture: true });
    },
  };
}
