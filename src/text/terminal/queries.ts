import { EscapeScanner } from "./escape.ts";

/**
 * Sequences that query the terminal. The keeper has already replied; a second reply from the viewer's terminal would be
 * sent to the program as input.
 */
const CSI_QUERY = new RegExp(
  [
    "^[>=]?[0-9]*c$", // device attributes
    "^\\??[0-9]+n$", // device status, cursor position
    "^>[0-9]*q$", // version
    "^\\??[0-9]+\\$p$", // mode
    "^(?:1[1-9]|2[01])(?:;[0-9;]*)?t$", // window size
    "^\\?u$", // keyboard protocol
  ].join("|"),
);

/** Queries for colors and the clipboard. */
const OSC_QUERY = /^(?:4;[0-9]+|1[0-9]|52;[a-z]*);\?$/;
const TITLE = /^[012];/;
/**
 * The device control strings that are passed on if `raw` is set: images (sixel). Others send keys (remote control of
 * kitty), define keys or fonts, or pass any sequence on to the terminal around a multiplexer. With keys, a program could
 * answer for the person (invariant 7).
 */
const HARMLESS_DCS = /^[0-9;]*q/;
/** The final bytes of queries and mode changes. */
const RELEVANT_FINALS = new Set(Buffer.from("cnqptuhlm"));
const MODES = /^\?([0-9;]+)([hl])$/;

/** An incomplete sequence longer than this is passed on. */
const LONGEST_HELD = 4096;
/** Modes that a terminal must not be left in, in the order in which they are switched off. */
const RESETTABLE_MODES = [1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026, 1, 66, 47, 1047, 1049];

/** Modes of synchronized output and of the screen, which are not restored. */
const SCREENS = new Set([47, 1047, 1049, 2026]);
/** Sequences that push, pop or set the keyboard protocol of kitty, or set that of xterm. */
const KEYBOARD = /^(?:([>=])[0-9;]{0,16}u|<([0-9]{0,4})u|>4(?:;([0-9]{1,4}))?m)$/;
const STYLE = 0x6d;
const PRIVATE = 0x3e;
/** The number of keyboard protocols that are remembered. Terminals keep fewer. */
const MOST_KEYBOARDS = 32;

/** The final bytes of sequences that print the screen or change the window. */
const WINDOW_FINALS = new Set(Buffer.from("it"));

/**
 * Removes sequences from a program's output before it is written to another terminal: queries always, and unless `raw`
 * is set also those that act outside the screen. These are strings (title, clipboard, links, notifications, images),
 * printing, and window operations. What draws on the screen stays.
 */
export class QueryFilter {
  readonly #raw: boolean;
  readonly #keepsTitle: () => boolean;
  readonly #scanner = new EscapeScanner({
    csi: (bytes, from, to, final) => this.#csi(bytes, from, to, final),
    escape: (intermediates, final) => this.#escape(intermediates, final),
    string: (kind, body) => this.#string(kind, body),
  });
  /** Whether the current sequence, which is too long to hold back, is dropped although `raw` is set. */
  #drops = false;
  /** An incomplete sequence, held back until the next piece. */
  #held: Uint8Array = new Uint8Array();
  /** The position in the stream of the first byte that has not been passed on. */
  #first = 0;
  /** The position in the stream at which the last removed query ends. */
  #queryEnd = -1;
  #queries: { start: number; end: number }[] = [];
  readonly #on = new Set<number>();
  #cursorHidden = false;
  #keypad = false;
  /** The sequences that select a keyboard protocol, since the last reset of each. */
  #keyboard: string[] = [];
  #otherKeys = "";

  /** `keepsTitle` reports whether the program may not change the title now, although `raw` is set. */
  constructor({ raw, keepsTitle = () => false }: { raw: boolean; keepsTitle?: () => boolean }) {
    this.#raw = raw;
    this.#keepsTitle = keepsTitle;
  }

  filter(bytes: Uint8Array): Buffer {
    this.#queries = [];
    this.#scanner.push(bytes);
    const piece = Buffer.concat([this.#held, bytes]);
    const { begun, inSequence, openString } = this.#scanner;
    if (begun <= LONGEST_HELD) this.#drops = false;
    else if (begun <= piece.length) {
      const body = piece.subarray(piece.length - begun + 2).subarray(0, TELLING_BYTES);
      this.#drops = openString !== null && !isHarmless(openString, body.toString("latin1"));
    }
    const isHeld = begun <= LONGEST_HELD || !this.#raw || this.#drops;
    const incomplete = inSequence && isHeld ? Math.min(begun, piece.length) : 0;
    const whole = piece.length - incomplete;
    // A sequence that is too long to hold is passed on if `raw` is set, and dropped otherwise.
    const held = incomplete <= LONGEST_HELD ? piece.subarray(whole) : new Uint8Array();
    this.#held = held;
    const parts: Buffer[] = [];
    let at = 0;
    for (const { start, end } of this.#queries) {
      parts.push(piece.subarray(at, start - this.#first));
      at = end - this.#first;
    }
    this.#first += piece.length - held.length;
    return at === 0 ? piece.subarray(0, whole) : Buffer.concat([...parts, piece.subarray(at, whole)]);
  }

  /** Returns the sequences that reset the modes that are set. */
  reset(): string {
    // The screens of a terminal have separate keyboard protocols, so this comes before the change of the screen.
    const keyboard = this.#keyboard.map((each) => (each.startsWith("\x1b[>") ? "\x1b[<u" : "\x1b[=0u"));
    const modes = RESETTABLE_MODES.filter((mode) => this.#on.has(mode)).map((mode) => `\x1b[?${mode}l`);
    if (this.#otherKeys !== "") modes.push("\x1b[>4m");
    if (this.#cursorHidden) modes.push("\x1b[?25h");
    if (this.#keypad) modes.push("\x1b>");
    return `${keyboard.join("")}${modes.join("")}\x1b[m`;
  }

  /** Returns the sequences that set the modes that are set, except for the screen and the cursor. */
  modes(): string {
    const modes = RESETTABLE_MODES.filter((mode) => this.#on.has(mode) && !SCREENS.has(mode));
    const keypad = this.#keypad ? "\x1b=" : "";
    return `${modes.map((mode) => `\x1b[?${mode}h`).join("")}${keypad}`;
  }

  /** Returns the sequences that select the keyboard protocols that the program has selected. */
  keyboard(): string {
    return this.#keyboard.join("") + this.#otherKeys;
  }

  #csi(bytes: Uint8Array, from: number, to: number, final: number): void {
    if (!this.#raw && WINDOW_FINALS.has(final)) this.#remove();
    else if (!RELEVANT_FINALS.has(final)) return;
    // Colors are the most frequent sequences. Only the private form selects something else.
    if (final === STYLE && bytes[from] !== PRIVATE) return;
    const sequence = Buffer.from(bytes.subarray(from, to)).toString("latin1") + String.fromCharCode(final);
    if (CSI_QUERY.test(sequence)) this.#remove();
    if (KEYBOARD.test(sequence)) this.#selectKeyboard(sequence);
    const [, numbers = "", how] = MODES.exec(sequence) ?? [];
    for (const mode of numbers === "" ? [] : numbers.split(";").map(Number)) {
      if (mode === 25) this.#cursorHidden = how === "l";
      else if (how === "h") this.#on.add(mode);
      else this.#on.delete(mode);
    }
  }

  #selectKeyboard(sequence: string): void {
    const [, selects, popped, level] = KEYBOARD.exec(sequence) ?? [];
    if (selects && this.#keyboard.length < MOST_KEYBOARDS) this.#keyboard.push(`\x1b[${sequence}`);
    else if (popped !== undefined) this.#keyboard.splice(-Math.max(1, Number(popped)));
    else if (sequence.endsWith("m")) this.#otherKeys = Number(level ?? 0) > 0 ? `\x1b[${sequence}` : "";
  }

  #escape(intermediates: string, final: string): void {
    if (intermediates !== "") return;
    if (final === "=" || final === ">") this.#keypad = final === "=";
    const endsQuery = final === "\\" && this.#scanner.start === this.#queryEnd;
    if (final === "Z" || endsQuery) this.#remove();
  }

  #string(kind: string, body: string): void {
    if (!this.#raw || !isHarmless(kind, body) || (kind === "]" && TITLE.test(body) && this.#keepsTitle()))
      this.#remove();
  }

  /** Removes the current sequence. If its start has been passed on, it stays; if its start was dropped, the rest goes. */
  #remove(): void {
    const { start, end } = this.#scanner;
    if (start < this.#first && this.#raw && !this.#drops) return;
    this.#queries.push({ start: Math.max(start, this.#first), end });
    this.#queryEnd = end;
  }
}

/** Reports whether a string is passed on if `raw` is set. */
function isHarmless(kind: string, body: string): boolean {
  if (kind === "]") return !OSC_QUERY.test(body);
  return kind !== "P" || HARMLESS_DCS.test(body);
}

/** The number of bytes that show what a string is. */
const TELLING_BYTES = 64;

/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: matches escape sequences */
/**
 * Input that a terminal sends without user action: replies to queries, and focus events. F3 with a modifier looks like
 * a cursor position in the first row and is treated as a key. Mouse events count as user input.
 */
const REPLY = new RegExp(
  [
    "\\x1b\\[[?>=][0-9;]*c", // device attributes
    "\\x1b\\[[0-9]*n", // device status
    "\\x1b\\[\\??(?!1;[2-8]R)[0-9]+;[0-9]+(?:;[0-9]+)?R", // cursor position
    "\\x1b\\[\\??[0-9;]*\\$y", // mode
    "\\x1b\\[[0-9]+(?:;[0-9]+){0,2}t", // window size
    "\\x1b\\[\\?[0-9;]*u", // keyboard protocol
    "\\x1b\\[[0-9;]+x", // terminal parameters
    "\\x1b\\[[IO]", // focus gained or lost
    "\\x1b\\][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)", // colors, title, clipboard
    "\\x1b[P_^X][^\\x1b]*\\x1b\\\\", // version, settings, capabilities
  ].join("|"),
  "g",
);
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: matches escape sequences */

/**
 * Reports whether the data consists of terminal replies only. Terminals send each reply separately, so text that
 * contains anything else comes from a person, who may paste text that looks like a reply.
 */
export function isTerminalReply(data: string): boolean {
  return data !== "" && data.replace(REPLY, "") === "";
}
