import { EscapeScanner } from "../../text/terminal/escape.ts";

/** The maximum number of color sequences that are kept. */
const MOST_KEPT = 32;
/** The maximum length of a color sequence's parameters, in bytes. Longer sequences are ignored. */
const LONGEST = 64;

const ZERO = 0x30;
const SEMICOLON = 0x3b;

/** The current colors and styles, as the sequences that set them since the last reset. */
class ActiveColors {
  // A ring buffer, because color sequences are the most frequent ones, and only the last ones matter.
  #bytes = Buffer.alloc(MOST_KEPT * LONGEST);
  #lengths = new Uint8Array(MOST_KEPT);
  #count = 0;

  reset(): void {
    this.#count = 0;
  }

  /** Adds the parameters of one sequence. */
  push(bytes: Uint8Array, from: number, to: number): void {
    const first = from === to ? ZERO : (bytes[from] as number);
    if (to - from <= 1 && first === ZERO) {
      this.#count = 0;
      return;
    }
    if (first > SEMICOLON || to - from > LONGEST) return; // a private or invalid sequence
    if (first === ZERO && bytes[from + 1] === SEMICOLON) this.#count = 0;
    const slot = this.#count++ % MOST_KEPT;
    let target = slot * LONGEST;
    for (let at = from; at < to; at++) this.#bytes[target++] = bytes[at] as number;
    this.#lengths[slot] = to - from;
  }

  sequences(): string[] {
    const count = Math.min(this.#count, MOST_KEPT);
    return Array.from({ length: count }, (_, index) => {
      const slot = (this.#count - count + index) % MOST_KEPT;
      const start = slot * LONGEST;
      return `\x1b[${this.#bytes.toString("latin1", start, start + (this.#lengths[slot] ?? 0))}m`;
    });
  }
}

const FEED = 0x0a;
const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
const COLOR = 0x6d;

/** The maximum length of a sequence that is interpreted, in bytes. */
const LONGEST_SEQUENCE = 64;
const LONGEST_TITLE = 1024;
const MOST_MODES = 64;

/** Final characters of sequences that reach beyond the current line. Output with one of them is not plain lines. */
const MOVES_CURSOR = "ABEFHJLMSTdefru";

/** By final character: 1 for sequences that are interpreted, 2 for those that are only counted. */
const HANDLED = new Uint8Array(128);
for (const final of MOVES_CURSOR) HANDLED[final.charCodeAt(0)] = 2;
for (const final of "hlrp") HANDLED[final.charCodeAt(0)] = 1;

/** Saves or restores the cursor; not a persistent mode. */
const SAVED_CURSOR = "?1048";
const ALTERNATE_SCREEN = new Set(["?47", "?1047", "?1049"]);

/**
 * Tracks the modes that a program's output sets, and whether the output ends inside a sequence or character. A terminal
 * that is restored from a checkpoint, or that skipped output, gets its modes from the tracker. Tracking is about twenty
 * times as fast as drawing, and its memory use is bounded for any output.
 */
export class ModeTracker {
  readonly #scanner = new EscapeScanner({
    control: (code) => this.#controlCharacter(code),
    csi: (bytes, from, to, final) => this.#control(bytes, from, to, final),
    escape: (intermediates, final) => this.#escape(intermediates, final),
    string: (kind, body) => this.#string(kind, body),
  });
  #modes = new Map<string, string>();
  #margins = "";
  #charsets = new Map<string, string>();
  #shifted = "";
  #colors = new ActiveColors();
  #title: string | null = null;
  #wasReset = false;
  #last = 0;
  #saved = new Map<boolean, { colors: string[]; charsets: Map<string, string>; shifted: string }>();

  /** The number of line feeds so far. */
  lineFeeds = 0;
  /** The number of sequences so far that reach beyond the current line. */
  cursorMoves = 0;

  /** False inside a sequence or a character. */
  get isSettled(): boolean {
    return this.#scanner.isSettled;
  }

  /** True when settled and the next bytes cannot extend the last grapheme cluster (an accent, the rest of an emoji). */
  get canSerialize(): boolean {
    return this.isSettled && this.#last < 0x80;
  }

  /** The number of bytes of an incomplete sequence or character. */
  get begun(): number {
    return this.#scanner.begun;
  }

  /**
   * A sequence that opens a string without effect, so that another terminal ignores the rest of an incomplete string.
   */
  get swallow(): string {
    const kind = this.#scanner.openString;
    return kind === null ? "" : `\x1b${kind === "]" ? "]7777;" : "_"}`;
  }

  push(bytes: Uint8Array): void {
    this.#last = bytes.at(-1) ?? this.#last;
    this.#scanner.push(bytes);
  }

  #controlCharacter(code: number): void {
    if (code === FEED) this.lineFeeds++;
    else if (code === SHIFT_OUT || code === SHIFT_IN) this.#shifted = code === SHIFT_OUT ? "\x0e" : "";
  }

  #string(kind: string, body: string): void {
    const title = kind === "]" ? /^[02];(.*)$/s.exec(body.slice(0, LONGEST_TITLE))?.[1] : undefined;
    if (title !== undefined) this.#title = title;
  }

  #escape(intermediates: string, final: string): void {
    if (intermediates === "" && final === "c") this.#reset();
    else if (intermediates === "" && (final === "=" || final === ">")) this.#setMode("?66", final === "=" ? "h" : "l");
    else if (intermediates === "" && final === "M") this.cursorMoves++;
    else if (intermediates === "" && final === "7") this.#saveStyle();
    else if (intermediates === "" && final === "8") this.#restoreStyle();
    else if (/^[()*+]$/.test(intermediates)) this.#charsets.set(intermediates, final);
  }

  #control(bytes: Uint8Array, from: number, to: number, code: number): void {
    if (to - from >= LONGEST_SEQUENCE) return;
    const minded = HANDLED[code];
    if (code === COLOR) this.#colors.push(bytes, from, to);
    if (minded === 2) this.cursorMoves++;
    if (minded !== 1) return;
    const parameters = Buffer.from(bytes.subarray(from, to)).toString("latin1");
    const final = String.fromCharCode(code);
    if (final === "h" || final === "l") this.#switch(parameters, final);
    else if (final === "p" && parameters === "!") this.#softReset();
    else if (final === "r") {
      this.cursorMoves++;
      if (/^[\d;]*$/.test(parameters)) this.#margins = parameters;
    }
  }

  #switch(parameters: string, final: "h" | "l"): void {
    const prefix = parameters.startsWith("?") ? "?" : "";
    if (!/^\??[\d;]*$/.test(parameters)) return;
    for (const number of parameters.slice(prefix.length).split(";")) this.#setMode(prefix + Number(number), final);
  }

  #setMode(mode: string, final: "h" | "l"): void {
    if (mode === SAVED_CURSOR) {
      if (final === "h") this.#saveStyle();
      else this.#restoreStyle();
      return;
    }
    if (ALTERNATE_SCREEN.has(mode)) {
      this.cursorMoves++;
      if (mode === "?1049" && final === "h") this.#saveStyle();
      for (const other of ALTERNATE_SCREEN) this.#modes.delete(other);
    }
    // The mode is deleted first, to keep the modes in the order in which they were last set.
    this.#modes.delete(mode);
    this.#modes.set(mode, final);
    if (mode === "?1049" && final === "l") this.#restoreStyle();
    if (this.#modes.size > MOST_MODES) this.#modes.delete(this.#modes.keys().next().value as string);
  }

  /** Saves colors and character sets, which are part of a saved cursor. Each screen has its own. */
  #saveStyle(): void {
    this.#saved.set(this.#isAlternate, {
      colors: this.colors(),
      charsets: new Map(this.#charsets),
      shifted: this.#shifted,
    });
  }

  #restoreStyle(): void {
    const saved = this.#saved.get(this.#isAlternate);
    this.#colors.reset();
    for (const sequence of saved?.colors ?? []) {
      this.#colors.push(Buffer.from(sequence, "latin1"), "\x1b[".length, sequence.length - 1);
    }
    this.#charsets = new Map(saved?.charsets);
    this.#shifted = saved?.shifted ?? "";
  }

  get #isAlternate(): boolean {
    return [...ALTERNATE_SCREEN].some((mode) => this.#modes.get(mode) === "h");
  }

  #softReset(): void {
    for (const mode of ["4", "?1", "?6", "?25", "?66"]) this.#modes.delete(mode);
    this.#setMode("?7", "h");
    this.#setMode("?25", "h");
    for (const mode of ["4", "?1", "?6", "?66"]) this.#setMode(mode, "l");
    this.#margins = "";
    this.#charsets.clear();
    this.#shifted = "";
    this.#colors.reset();
  }

  #reset(): void {
    this.#modes.clear();
    this.#margins = "";
    this.#charsets.clear();
    this.#shifted = "";
    this.#colors.reset();
    this.#title = null;
    this.#saved.clear();
    this.#wasReset = true;
  }

  /** Returns the color sequences since the last reset. */
  colors(): string[] {
    return this.#colors.sequences();
  }

  /** Returns output that puts a new terminal into the modes that this output has set. It moves the cursor. */
  prelude(): Uint8Array {
    const alternate = [...this.#modes].find(([mode]) => ALTERNATE_SCREEN.has(mode));
    const parts = [
      "\x18",
      this.#wasReset ? "\x1bc" : "",
      alternate ? `\x1b[${alternate.join("")}` : "",
      ...this.modes(),
      this.#margins === "" ? "" : `\x1b[${this.#margins}r`,
      this.charsets(),
      "\x1b[m",
      ...this.colors(),
      this.title(),
    ];
    return Buffer.from(parts.join(""), "latin1");
  }

  /** Returns the sequences that set the modes, except for the choice of screen. */
  modes(): string[] {
    const switches = [...this.#modes].filter(([mode]) => !ALTERNATE_SCREEN.has(mode));
    return switches.map(([mode, final]) => `\x1b[${mode}${final}`);
  }

  /** Returns the sequence that sets the title, as latin1: each character is one byte of the output. */
  title(): string {
    return this.#title === null ? "" : `\x1b]2;${this.#title}\x07`;
  }

  /** The parameters of the sequence that set the margins; empty for the whole screen. */
  get margins(): string {
    return this.#margins;
  }

  get cursorVisible(): boolean {
    return this.#modes.get("?25") !== "l";
  }

  /** Returns the sequences that select character sets, such as line drawing. */
  charsets(): string {
    return [...this.#charsets].map(([slot, name]) => `\x1b${slot}${name}`).join("") + this.#shifted;
  }
}
