import { createRequire } from "node:module";
import type { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import type { IUnicodeVersionProvider, Terminal } from "@xterm/headless";
import headless from "@xterm/headless";
import { MIN_DRAWN_COLUMNS, type Screen, type TerminalSize } from "../../core/terminal.ts";
import { guard } from "../../text/terminal/xterm-guards.ts";
import { visible } from "../../text/visible.ts";
import { fit } from "../../text/width.ts";
import { ModeTracker } from "./mode-tracker.ts";
import { logicalLines, screenLines, screenRuns } from "./rows.ts";
import { serializeScreen } from "./serialize-screen.ts";

const graphemesAddon = loadAddon();

/**
 * Loads the addon with buffer pooling disabled. The addon decodes its tables when it is loaded, and ignores the byte
 * offset of the buffer they are in, which buffers from Node's pool have.
 */
function loadAddon(): { UnicodeGraphemesAddon: typeof UnicodeGraphemesAddon } {
  const size = Buffer.poolSize;
  Buffer.poolSize = 0;
  try {
    return createRequire(import.meta.url)("@xterm/addon-unicode-graphemes");
  } finally {
    Buffer.poolSize = size;
  }
}

/** The maximum number of characters joined into one cell, which could otherwise grow without limit. */
const MOST_JOINED = 32;
const JOINS = 1;

/** Makes a terminal put a grapheme cluster (an emoji family, a letter with accents) into one cell. */
function useGraphemes(terminal: Terminal): void {
  const inner = providerOf(new graphemesAddon.UnicodeGraphemesAddon());
  let joined = 0;
  terminal.unicode.register({
    version: "bounded-graphemes",
    wcwidth: (codepoint) => inner.wcwidth(codepoint),
    charProperties: (codepoint, preceding) => {
      const properties = inner.charProperties(codepoint, preceding);
      if ((properties & JOINS) === 0) {
        joined = 0;
        return properties;
      }
      if (++joined <= MOST_JOINED) return properties;
      joined = 0;
      return properties & ~JOINS;
    },
  });
  terminal.unicode.activeVersion = "bounded-graphemes";
}

/** Obtains the addon's provider, which it only registers with a terminal, by activating it on a stub. */
function providerOf(addon: { activate(terminal: never): void }): IUnicodeVersionProvider {
  const offered: IUnicodeVersionProvider[] = [];
  const unicode = { activeVersion: "", register: (provider: IUnicodeVersionProvider) => offered.push(provider) };
  addon.activate({ unicode } as never);
  const provider = offered.find(({ version }) => version === unicode.activeVersion);
  if (!provider) throw new Error("the graphemes addon offers no provider");
  return provider;
}

/** Cells of scrollback, 12 bytes each: 2000 rows of a terminal with 120 columns, fewer of a wider one. */
const SCROLLBACK_CELLS = 240_000;
const MOST_SCROLLBACK = 2000;

/** Bytes drawn without yielding. A few bytes can clear a whole screen, so the amount depends on the screen's size. */
const MOST_CHUNK_BYTES = 16 * 1024;
const LEAST_CHUNK_BYTES = 256;
const CELLS_PER_CHUNK = 80_000_000;

const TITLE_CELLS = 200;

/** Cells of scrollback in a repaint for viewers: about 500 rows of a terminal with 120 columns. */
const REPAINTED_CELLS = 60_000;
/** The maximum length of an incomplete sequence that is sent again to a viewer that joins. */
const MOST_UNFINISHED_BYTES = 4096;

/** The maximum number of rows or columns. */
const MOST_SIDE = 1000;

export interface ScreenOptions {
  attributes?: boolean;
  scrollback?: boolean;
}

/** A headless terminal that renders a program's output. */
export class Emulator {
  readonly #terminal: InstanceType<typeof headless.Terminal>;
  readonly tracker = new ModeTracker();
  #title = "";

  constructor(size: TerminalSize) {
    const { columns, rows } = clamp(size);
    const scrollback = Math.min(MOST_SCROLLBACK, Math.floor(SCROLLBACK_CELLS / columns));
    this.#terminal = new headless.Terminal({
      cols: columns,
      rows,
      scrollback,
      allowProposedApi: true,
      logLevel: "off",
    });
    useGraphemes(this.#terminal);
    guard(this.#terminal);
    this.#terminal.onTitleChange((title) => {
      this.#title = fit(visible(title.slice(0, TITLE_CELLS * 4)), TITLE_CELLS);
    });
  }

  get size(): TerminalSize {
    return { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }

  get scrollbackRows(): number {
    return this.#terminal.options.scrollback ?? 0;
  }

  /** Draws output, yielding to the event loop regularly. Resolves when all of it is drawn. */
  feed(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return Promise.resolve();
    this.tracker.push(bytes);
    const stretch = chunkBytesFor(this.size);
    return new Promise((resolve) => {
      for (let at = 0; at < bytes.length; at += stretch) {
        const last = at + stretch >= bytes.length;
        this.#terminal.write(bytes.subarray(at, at + stretch), last ? resolve : undefined);
      }
    });
  }

  /** Resizes the terminal. Must not be called while `feed` is in progress. */
  resize(size: TerminalSize): void {
    const { columns, rows } = clamp(size);
    if (columns !== this.#terminal.cols || rows !== this.#terminal.rows) this.#terminal.resize(columns, rows);
  }

  screen({ attributes, scrollback }: ScreenOptions = {}): Omit<Screen, "offset"> {
    const { columns, rows } = this.size;
    const { modes, buffer } = this.#terminal;
    const { active } = buffer;
    return {
      columns,
      rows,
      lines: screenLines(active, rows),
      cursor: {
        // After writing to the last column, the cursor is past it until the next character.
        column: Math.min(active.cursorX, columns - 1),
        row: active.cursorY,
        visible: this.tracker.cursorVisible,
      },
      title: this.#title,
      alternate: active.type === "alternate",
      modes: { applicationCursor: modes.applicationCursorKeysMode, bracketedPaste: modes.bracketedPasteMode },
      ...(attributes ? { attributes: screenRuns(active, rows) } : {}),
      ...(scrollback ? { scrollback: [...logicalLines(active, active.baseY)] } : {}),
    };
  }

  /** Returns the scrollback and the screen as text, without trailing blank lines. */
  text(): string {
    const { active } = this.#terminal.buffer;
    return [...logicalLines(active, active.length)].join("\n").trimEnd();
  }

  /** Returns output that puts a new terminal of this size into this state; null inside a sequence or character. */
  serialize(): Uint8Array | null {
    if (!this.tracker.canSerialize) return null;
    return Buffer.from(serializeScreen(this.#terminal, this.tracker));
  }

  /**
   * Returns output that puts a viewer's terminal into this state, with little scrollback. Unlike `serialize`, it works
   * inside a sequence or character: `unfinished` is the number of its bytes, which must be sent to the viewer again.
   */
  repaint(): { output: Uint8Array; unfinished: number } {
    const rows = Math.floor(REPAINTED_CELLS / this.size.columns);
    const { begun, swallow } = this.tracker;
    const output = serializeScreen(this.#terminal, this.tracker, rows);
    if (begun <= MOST_UNFINISHED_BYTES) return { output: Buffer.from(output), unfinished: begun };
    return { output: Buffer.from(output + swallow), unfinished: 0 };
  }

  dispose(): void {
    this.#terminal.dispose();
  }
}

function clamp({ columns, rows }: TerminalSize): TerminalSize {
  const side = (cells: number, least: number) => Math.min(MOST_SIDE, Math.max(least, Math.floor(cells) || least));
  return { columns: side(columns, MIN_DRAWN_COLUMNS), rows: side(rows, 1) };
}

function chunkBytesFor({ columns, rows }: TerminalSize): number {
  const bytes = Math.floor(CELLS_PER_CHUNK / (columns * rows));
  return Math.min(MOST_CHUNK_BYTES, Math.max(LEAST_CHUNK_BYTES, bytes));
}
