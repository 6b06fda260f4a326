import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import type { TerminalSize } from "../../../../../src/core/terminal.ts";
import { harden } from "./harden.ts";

const SCROLLBACK = 2000;
const LARGEST_FONT = 14;
const SMALLEST_FONT = 6;
/** Approximate width of a character, as a fraction of the font size. */
const WIDTH = 0.602;

const DARK = {
  background: "#0a0e13",
  foreground: "#dbe2ea",
  cursor: "#5ccfd6",
  cursorAccent: "#0a0e13",
  selectionBackground: "#2c4a55",
};

export interface Drawn {
  terminal: Terminal;
  /** Sets the largest font size that fits. */
  fit(): void;
  dispose(): void;
}

/**
 * Creates a terminal of exactly this size, in the largest font that fits. Watching a session does not resize its
 * terminal.
 */
export function drawTerminal(
  element: HTMLElement,
  size: TerminalSize,
  options: { input: boolean; onLink: (target: string) => void },
): Drawn {
  const terminal = new Terminal({
    cols: size.columns,
    rows: size.rows,
    disableStdin: !options.input,
    cursorInactiveStyle: "outline",
    scrollback: SCROLLBACK,
    fontFamily: getComputedStyle(element).getPropertyValue("--mono"),
    fontSize: LARGEST_FONT,
    theme: DARK,
    allowProposedApi: true,
    screenReaderMode: false,
    // A link does not open directly: a dialog shows its target first.
    linkHandler: { activate: (_event, target) => options.onLink(target), allowNonHttpProtocols: false },
  });
  const locks = harden(terminal);
  terminal.loadAddon(new UnicodeGraphemesAddon());
  terminal.open(element);
  const fit = (): void => {
    const room = element.clientWidth - 18;
    const font = Math.floor((room / terminal.cols / WIDTH) * 2) / 2;
    terminal.options.fontSize = Math.max(SMALLEST_FONT, Math.min(LARGEST_FONT, font));
  };
  const observer = new ResizeObserver(fit);
  observer.observe(element);
  fit();
  return {
    terminal,
    fit,
    dispose: () => {
      observer.disconnect();
      for (const lock of locks) lock.dispose();
      terminal.dispose();
    },
  };
}
