import type { IDisposable, Terminal } from "@xterm/xterm";

const taken = (): boolean => true;

/**
 * Disables escape sequences that let a program act on the person who watches its terminal: setting the clipboard or the
 * title, and queries, whose replies would reach the program as if they had been typed (invariant 2).
 */
export function harden(terminal: Terminal): IDisposable[] {
  const { parser } = terminal;
  return [
    // Window title and icon name.
    ...[0, 1, 2].map((code) => parser.registerOscHandler(code, taken)),
    // Clipboard.
    parser.registerOscHandler(52, taken),
    // Color queries. Setting colors is harmless.
    ...[4, 10, 11, 12].map((code) => parser.registerOscHandler(code, (data) => data.includes("?"))),
    // Device attributes (primary, secondary, tertiary) and version.
    parser.registerCsiHandler({ final: "c" }, taken),
    parser.registerCsiHandler({ prefix: ">", final: "c" }, taken),
    parser.registerCsiHandler({ prefix: "=", final: "c" }, taken),
    parser.registerCsiHandler({ prefix: ">", final: "q" }, taken),
    // Cursor position and device status.
    parser.registerCsiHandler({ final: "n" }, taken),
    parser.registerCsiHandler({ prefix: "?", final: "n" }, taken),
    // Modes and settings.
    parser.registerCsiHandler({ intermediates: "$", final: "p" }, taken),
    parser.registerCsiHandler({ prefix: "?", intermediates: "$", final: "p" }, taken),
    parser.registerDcsHandler({ intermediates: "$", final: "q" }, taken),
    parser.registerDcsHandler({ intermediates: "+", final: "q" }, taken),
    parser.registerCsiHandler({ prefix: "?", final: "u" }, taken),
    parser.registerCsiHandler({ final: "x" }, taken),
    // Window operations: size, position, title.
    parser.registerCsiHandler({ final: "t" }, taken),
    // Focus reporting (1004), alone or combined with other modes.
    parser.registerCsiHandler({ prefix: "?", final: "h" }, (parameters) => parameters.includes(1004)),
  ];
}

/** Input counts as typed by a person for this long after a key, paste or pointer event on the element. */
const HUMAN_MS = 100;

/**
 * Tracks whether data from the terminal can come from a person, that is, follows an input event. This is a second line
 * of defense, in case `harden` misses a query.
 */
export function watchPerson(element: HTMLElement): { isActive: () => boolean; stop: () => void } {
  let last = Number.NEGATIVE_INFINITY;
  const note = (event: Event): void => {
    if (event.isTrusted) last = performance.now();
  };
  const kinds = ["keydown", "keyup", "input", "paste", "compositionend", "mousedown", "mouseup", "mousemove", "wheel"];
  for (const kind of kinds) element.addEventListener(kind, note, { capture: true, passive: true });
  return {
    isActive: () => performance.now() - last < HUMAN_MS,
    stop: () => {
      for (const kind of kinds) element.removeEventListener(kind, note, { capture: true });
    },
  };
}
