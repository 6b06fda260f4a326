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
 * The addon decodes its tables as it is loaded, and takes the buffer they come in for one of its own: out of Node's pool
 * of small buffers they would be read from the wrong place, depending on what was in use before.
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

/** Characters that join the one before them, in one cell; no script needs so many, and a cell has no end otherwise. */
const MOST_JOINED = 32;
const JOINS = 1;

/** Lets a terminal put what a reader sees as one character (an emoji family, a letter with accents) into one cell. */
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

/** The addon offers its provider to the terminal it is loaded into, and to nobody else. */
function providerOf(addon: { activate(terminal: never): void }): IUnicodeVersionProvider {
  const offered: IUnicodeVersionProvider[] = [];
  const unicode = { activeVersion: "", register: (provider: IUnicodeVersionProvider) => offered.push(provider) };
  addon.activate({ unicode } as never);
  const provider = offered.find(({ version }) => version === unicode.activeVersion);
  if (!provider) throw new Error("the graphemes addon offers no provider");
  return provider;
}

/** Cells kept of what scrolled off: 2000 rows of an ordinary terminal, fewer of a wide one. 12 bytes each. */
const SCROLLBACK_CELLS = 240_000;
const MOST_SCROLLBACK = 2000;

/** How much is drawn at a stretch: few bytes can have a whole screen cleared, and others are to get their turn. */
const MOST_CHUNK_BYTES = 16 * 1024;
const LEAST_CHUNK_BYTES = 256;
const CELLS_PER_CHUNK = 80_000_000;

const TITLE_CELLS = 200;

/** Of what scrolled off, for those who look on: some 500 rows of an ordinary terminal. */
const REPAINTED_CELLS = 60_000;
/** A sequence that goes on for longer is not begun again for those who come later. */
const MOST_UNFINISHED_BYTES = 4096;

/** The largest size a program or a person may ask for. */
const MOST_SIDE = 1000;

export interface ScreenOptions {
  attributes?: boolean;
  scrollback?: boolean;
}

/** A terminal without a person: fed with a program's output, it knows what a person would see. */
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

  /** Resolves when all of it is drawn. Others run meanwhile. */
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

  /** Only between two `feed`s. */
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
        // After the last column the cursor waits there for what comes.
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

  /** What scrolled off and what is on the screen now, without the blank lines at the end. */
  text(): string {
    const { active } = this.#terminal.buffer;
    return [...logicalLines(active, active.length)].join("\n").trimEnd();
  }

  /** The output that would bring a new terminal of this size here; null in the middle of a sequence or character. */
  serialize(): Uint8Array | null {
    if (!this.tracker.canSerialize) return null;
    return Buffer.from(serializeScreen(this.#terminal, this.tracker));
  }

  /**
   * The same for somebody who looks on, with little of what scrolled off, at any moment: `unfinished` bytes before the
   * end begin a sequence or character that has no effect yet, and are to be written once more.
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
