import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import type { TerminalSize } from "../../../../../src/core/terminal.ts";
import { harden } from "./harden.ts";

const SCROLLBACK = 2000;
const LARGEST_FONT = 14;
const SMALLEST_FONT = 6;
/** A character of the font is about so wide, in parts of its size. */
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
  /** Makes the letters as large as they can be. */
  fit(): void;
  dispose(): void;
}

/** A terminal of exactly this size, drawn as large as the place allows: looking on changes nothing for the program. */
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
    // A link never opens by itself: where it truly leads is shown first.
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
