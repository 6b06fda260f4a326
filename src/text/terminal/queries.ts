import { EscapeScanner } from "./escape.ts";

/**
 * Sequences that ask the terminal something. The keeper has answered already; if our own terminal did so as well, its
 * answer would be typed into the program a second time.
 */
const CSI_QUERY = new RegExp(
  [
    "^[>=]?[0-9]*c$", // what are you
    "^\\??[0-9]+n$", // how are you, where is the cursor
    "^>[0-9]*q$", // which version
    "^\\??[0-9]+\\$p$", // is this mode set
    "^(?:1[1-9]|2[01])(?:;[0-9;]*)?t$", // how large is the window
    "^\\?u$", // which keyboard protocol
  ].join("|"),
);

/** Which colours, what was copied. */
const OSC_QUERY = /^(?:4;[0-9]+|1[0-9]|52;[a-z]*);\?$/;
/** Which settings and capabilities. */
const DCS_QUERY = /^[$+]q/;
/** The final bytes of questions and modes. */
const RELEVANT_FINALS = new Set(Buffer.from("cnqptuhl"));
const MODES = /^\?([0-9;]+)([hl])$/;

/** A string sequence longer than this is passed on as it comes. */
const LONGEST_HELD = 4096;
/** Modes that a terminal must not be left in, in the order in which they are switched off. */
const RESETTABLE_MODES = [1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026, 1, 66, 47, 1047, 1049];

/** Removes queries from a program's output before it is written to another terminal. All other bytes stay. */
export class QueryFilter {
  readonly #scanner = new EscapeScanner({
    csi: (bytes, from, to, final) => this.#csi(bytes, from, to, final),
    escape: (intermediates, final) => this.#escape(intermediates, final),
    string: (kind, body) => this.#string(kind, body),
  });
  /** A sequence that may go on in the next piece. */
  #held: Uint8Array = new Uint8Array();
  /** Where in the stream the bytes that are not passed on yet begin. */
  #first = 0;
  /** Where in the stream the last removed query ends. */
  #queryEnd = -1;
  #queries: { start: number; end: number }[] = [];
  readonly #on = new Set<number>();
  #cursorHidden = false;
  #keypad = false;

  filter(bytes: Uint8Array): Buffer {
    this.#queries = [];
    this.#scanner.push(bytes);
    const piece = Buffer.concat([this.#held, bytes]);
    const { begun, inSequence } = this.#scanner;
    const whole = piece.length - (inSequence && begun <= LONGEST_HELD ? begun : 0);
    this.#held = piece.subarray(whole);
    const parts: Buffer[] = [];
    let at = 0;
    for (const { start, end } of this.#queries) {
      parts.push(piece.subarray(at, start - this.#first));
      at = end - this.#first;
    }
    this.#first += whole;
    return at === 0 ? piece.subarray(0, whole) : Buffer.concat([...parts, piece.subarray(at, whole)]);
  }

  /** The sequences that undo the modes that are on. */
  reset(): string {
    const modes = RESETTABLE_MODES.filter((mode) => this.#on.has(mode)).map((mode) => `\x1b[?${mode}l`);
    if (this.#cursorHidden) modes.push("\x1b[?25h");
    if (this.#keypad) modes.push("\x1b>");
    return `${modes.join("")}\x1b[m`;
  }

  #csi(bytes: Uint8Array, from: number, to: number, final: number): void {
    if (!RELEVANT_FINALS.has(final)) return;
    const sequence = Buffer.from(bytes.subarray(from, to)).toString("latin1") + String.fromCharCode(final);
    if (CSI_QUERY.test(sequence)) this.#remove();
    const [, numbers = "", how] = MODES.exec(sequence) ?? [];
    for (const mode of numbers === "" ? [] : numbers.split(";").map(Number)) {
      if (mode === 25) this.#cursorHidden = how === "l";
      else if (how === "h") this.#on.add(mode);
      else this.#on.delete(mode);
    }
  }

  #escape(intermediates: string, final: string): void {
    if (intermediates !== "") return;
    if (final === "=" || final === ">") this.#keypad = final === "=";
    const endsQuery = final === "\\" && this.#scanner.start === this.#queryEnd;
    if (final === "Z" || endsQuery) this.#remove();
  }

  #string(kind: string, body: string): void {
    const query = kind === "]" ? OSC_QUERY : DCS_QUERY;
    if ((kind === "]" || kind === "P") && query.test(body)) this.#remove();
  }

  /** Unless its beginning was passed on already. */
  #remove(): void {
    const { start, end } = this.#scanner;
    if (start < this.#first) return;
    this.#queries.push({ start, end });
    this.#queryEnd = end;
  }
}

/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are what it is about */
/**
 * What a terminal sends by itself, without anybody touching a key: answers to a program's questions, and whether it has
 * the focus. Pressing F3 with a modifier looks like the place of the cursor in the first row, and counts as a key; the
 * mouse is a person's doing as well.
 */
const REPLY = new RegExp(
  [
    "\\x1b\\[[?>=][0-9;]*c", // what it is
    "\\x1b\\[[0-9]*n", // how it is
    "\\x1b\\[\\??(?!1;[2-8]R)[0-9]+;[0-9]+(?:;[0-9]+)?R", // where the cursor is
    "\\x1b\\[\\??[0-9;]*\\$y", // whether a mode is set
    "\\x1b\\[[0-9]+(?:;[0-9]+){0,2}t", // how large the window is
    "\\x1b\\[\\?[0-9;]*u", // which keyboard protocol
    "\\x1b\\[[0-9;]+x", // how fast the line is
    "\\x1b\\[[IO]", // it has the focus, or lost it
    "\\x1b\\][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)", // colours, title, clipboard
    "\\x1b[P_^X][^\\x1b]*\\x1b\\\\", // version, settings, capabilities
  ].join("|"),
  "g",
);
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: they are what it is about */

/**
 * Whether nothing of it was typed. Terminals send each answer by itself, so that a text with more in it is a person's:
 * they may paste what looks like one.
 */
export function isTerminalReply(data: string): boolean {
  return data !== "" && data.replace(REPLY, "") === "";
}
