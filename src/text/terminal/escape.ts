/**
 * Terminal escape sequences (ECMA-48, xterm). `escapeAt` parses one sequence in a complete text; `EscapeScanner` parses
 * a stream of bytes that arrives in pieces. The caller interprets the sequences.
 */

/** One escape sequence in a text. */
export interface Escape {
  end: number;
  /** False when the sequence is cut off by the end of the text or by an invalid character. */
  complete: boolean;
  /**
   * The final character of a control sequence (CSI) or of a plain escape; null for a string or a sequence without
   * effect.
   */
  action: string | null;
  kind: "csi" | "plain" | "string";
  /** The numeric parameters of a control sequence; 0 for omitted ones. */
  parameters: number[];
}

const ESCAPE = 0x1b;

// C1 characters. Each is the 8-bit form of ESC followed by the character that is 0x40 lower.
const FIRST_C1 = 0x80;
const LAST_C1 = 0x9f;

// `k` sets the title in screen and tmux.
const STRING_STARTS = new Set(["P", "X", "]", "^", "_", "k"]);

/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: matches escape sequences */
// The final character is optional: a sequence that is cut off or interrupted matches as far as it is valid.
const CONTROL_SEQUENCE = /([0-?]*)[ -/]*([@-~]?)/y;
const PLAIN_ESCAPE = /[ -/]*([0-~]?)/y;
// Stops at any character that may start another sequence, so that no text is scanned twice.
const STRING_BODY = /[^\x07\x18\x1a\x1b\x80-\x9f]*/y;
const STRING_END = /\x07|\x1b\\|\x9c|[\x18\x1a]/y;
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: matches escape sequences */

/** Returns the sequence that starts at this index; null when there is none. */
export function escapeAt(text: string, at: number): Escape | null {
  const code = text.charCodeAt(at);
  const isC1 = code >= FIRST_C1 && code <= LAST_C1;
  if (code !== ESCAPE && !isC1) return null;
  const introducer = isC1 ? String.fromCharCode(code - 0x40) : (text[at + 1] ?? "");
  const body = isC1 ? at + 1 : at + 2;
  if (introducer === "[") return controlSequence(text, body);
  if (STRING_STARTS.has(introducer)) return { ...NOTHING, ...stringEnd(text, body, isC1) };
  if (isC1) return { ...NOTHING, kind: "plain", action: introducer, end: body, complete: true };
  PLAIN_ESCAPE.lastIndex = at + 1;
  const [whole = "", final = ""] = PLAIN_ESCAPE.exec(text) ?? [];
  const end = at + 1 + whole.length;
  return { kind: "plain", parameters: [], end, complete: final !== "", action: whole.length === 1 ? introducer : null };
}

const NOTHING: Omit<Escape, "end" | "complete"> = { kind: "string", action: null, parameters: [] };
/** The maximum length of parameters that are parsed. Those of sequences that move or erase are shorter. */
const LONGEST_PARAMETERS = 32;

function controlSequence(text: string, body: number): Escape {
  CONTROL_SEQUENCE.lastIndex = body;
  const [whole = "", parameters = "", final = ""] = CONTROL_SEQUENCE.exec(text) ?? [];
  const end = body + whole.length;
  const plain = whole.length === parameters.length + final.length && /^[\d;]*$/.test(parameters.slice(0, 33));
  const complete = final !== "";
  if (!complete || !plain || parameters.length > LONGEST_PARAMETERS) return { ...NOTHING, kind: "csi", end, complete };
  return { kind: "csi", action: final, parameters: parameters.split(";").map(Number), end, complete };
}

/**
 * Returns the end of a string. An unterminated string ends with its line, so that it cannot hide the rest of the
 * output. An unterminated 8-bit string is ignored, because doubly encoded text contains many such characters.
 */
function stringEnd(text: string, body: number, isC1: boolean): Pick<Escape, "end" | "complete"> {
  STRING_BODY.lastIndex = body;
  const end = body + (STRING_BODY.exec(text)?.[0].length ?? 0);
  STRING_END.lastIndex = end;
  const terminator = STRING_END.exec(text)?.[0];
  if (terminator !== undefined) return { end: end + terminator.length, complete: true };
  if (isC1) return { end: body, complete: false };
  const feed = text.slice(body, end).indexOf("\n");
  return { end: feed === -1 ? end : body + feed, complete: false };
}

const GROUND = 0;
const ESCAPED = 1;
const CONTROL = 2;
const STRING = 3;
const CHARACTER = 4;

const BEL = 0x07;
const CANCEL = 0x18;
const SUBSTITUTE = 0x1a;
const DELETE = 0x7f;
const BRACKET = 0x5b;
/** The first byte of U+0080 to U+00BF in UTF-8, and so of every C1 character. */
const C1_LEAD = 0xc2;

/** The maximum number of bytes of parameters or of a string that are passed to a handler. */
const LONGEST_SEQUENCE = 4096;

/** Callbacks for the contents of a stream, in order. */
interface EscapeHandler {
  /** Called with printable text, `bytes[from]` to `bytes[to - 1]`. A character may be split over several calls. */
  text?(bytes: Uint8Array, from: number, to: number): void;
  /** Called with a control character (C0 or DEL) between sequences, and its index in the bytes pushed. */
  control?(code: number, at: number): void;
  /** Called with a control sequence (CSI): its parameter and intermediate bytes, and its final byte. */
  csi?(bytes: Uint8Array, from: number, to: number, final: number): void;
  /** Called with any other escape that does not start a string. */
  escape?(intermediates: string, final: string): void;
  /** Called with a complete string such as OSC (`kind` is `]`) or DCS (`P`). Only its first 4096 bytes are passed. */
  string?(kind: string, body: string): void;
}

/** Finds escape sequences in output that arrives in pieces. Memory is bounded for any output. */
export class EscapeScanner {
  readonly #handler: EscapeHandler;
  #state = GROUND;
  #sequence = "";
  #kind = "";
  #previous = 0;
  /** The number of missing continuation bytes of a character. */
  #missing = 0;
  #maybeC1 = false;
  /** The number of bytes before those that are being scanned. */
  #before = 0;

  /** The position in the stream at which the current or last sequence starts. */
  start = 0;
  /** The position in the stream at which that sequence ends. Valid while a handler is called. */
  end = 0;

  constructor(handler: EscapeHandler) {
    this.#handler = handler;
  }

  /** False inside a sequence or a character. */
  get isSettled(): boolean {
    return this.#state === GROUND;
  }

  /** The number of bytes of an incomplete sequence or character. */
  get begun(): number {
    return this.isSettled ? 0 : this.#before - this.start;
  }

  /** True when the bytes counted by `begun` may belong to a sequence. */
  get inSequence(): boolean {
    return this.#state !== GROUND && (this.#state !== CHARACTER || this.#maybeC1);
  }

  /** The kind of an incomplete string; null outside a string. */
  get openString(): string | null {
    return this.#state === STRING ? this.#kind : null;
  }

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      at = this.#state === GROUND ? this.#ground(bytes, at) : this.#step(bytes, at);
    }
    this.#before += bytes.length;
  }

  /**
   * Scans text and complete control sequences, up to anything incomplete. This is the only performance-critical loop.
   */
  #ground(bytes: Uint8Array, from: number): number {
    let run = from;
    let at = from;
    for (; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte >= 0x20 && byte < DELETE) continue;
      if (byte >= 0x80) {
        if (byte < C1_LEAD || byte >= 0xf5) continue;
        const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
        if (isWhole(bytes, at, length)) {
          at += length - 1;
          continue;
        }
        this.#maybeC1 = byte === C1_LEAD;
        this.#text(bytes, run, this.#maybeC1 ? at : at + 1);
        this.#begin(CHARACTER, at);
        this.#missing = length - 1;
        return at + 1;
      }
      this.#text(bytes, run, at);
      if (byte !== ESCAPE) this.#handler.control?.(byte, at);
      else {
        const end = bytes[at + 1] === BRACKET ? this.#wholeControl(bytes, at) : 0;
        if (end === 0) {
          this.#begin(ESCAPED, at);
          return at + 1;
        }
        at = end;
      }
      run = at + 1;
    }
    this.#text(bytes, run, at);
    return at;
  }

  #text(bytes: Uint8Array, from: number, to: number): void {
    if (from < to) this.#handler.text?.(bytes, from, to);
  }

  /** Handles a complete control sequence. Returns the index of its last byte, or 0 if it is incomplete. */
  #wholeControl(bytes: Uint8Array, begin: number): number {
    let at = begin + 2;
    while (at < bytes.length && (bytes[at] as number) >= 0x20 && (bytes[at] as number) < 0x40) at++;
    const final = bytes[at] ?? 0;
    if (final < 0x40 || final > 0x7e) return 0;
    this.start = this.#before + begin;
    this.end = this.#before + at + 1;
    this.#handler.csi?.(bytes, begin + 2, at, final);
    return at;
  }

  #begin(state: number, at: number): void {
    this.#become(state);
    this.start = this.#before + at;
  }

  #become(state: number): void {
    this.#state = state;
    this.#sequence = "";
    this.#previous = 0;
  }

  /** Handles one byte of an incomplete sequence or character. Returns the index at which to continue. */
  #step(bytes: Uint8Array, at: number): number {
    const byte = bytes[at] as number;
    this.end = this.#before + at + 1;
    if (this.#state === CHARACTER) return this.#continueCharacter(bytes, at);
    if (byte === CANCEL || byte === SUBSTITUTE) this.#state = GROUND;
    else if (byte === ESCAPE) {
      if (this.#state === STRING) {
        this.end--;
        this.#handler.string?.(this.#kind, this.#sequence);
      }
      this.#begin(ESCAPED, at);
    } else if (this.#state === ESCAPED) this.#continueEscape(byte);
    else if (this.#state === CONTROL) this.#continueControl(byte);
    else this.#continueString(byte);
    return at + 1;
  }

  #continueCharacter(bytes: Uint8Array, at: number): number {
    const byte = bytes[at] as number;
    const belongs = byte >= 0x80 && byte <= 0xbf;
    if (this.#maybeC1) {
      this.#maybeC1 = false;
      if (belongs && byte <= LAST_C1) {
        this.#become(ESCAPED);
        this.#continueEscape(byte - 0x40);
        return at + 1;
      }
      this.#text(Uint8Array.of(C1_LEAD), 0, 1);
    }
    if (!belongs) {
      this.#state = GROUND;
      return at;
    }
    this.#text(bytes, at, at + 1);
    if (--this.#missing === 0) this.#state = GROUND;
    return at + 1;
  }

  #continueEscape(byte: number): void {
    if (byte < 0x20) return;
    const character = String.fromCharCode(byte);
    if (byte < 0x30) this.#keep(character);
    else if (this.#sequence === "" && character === "[") this.#become(CONTROL);
    else if (this.#sequence === "" && "]PX^_".includes(character)) {
      this.#kind = character;
      this.#become(STRING);
    } else {
      this.#state = GROUND;
      if (byte < DELETE) this.#handler.escape?.(this.#sequence, character);
    }
  }

  #continueControl(byte: number): void {
    if (byte < 0x20 || byte >= DELETE) return;
    if (byte < 0x40) {
      this.#keep(String.fromCharCode(byte));
      return;
    }
    this.#state = GROUND;
    if (this.#sequence.length === LONGEST_SEQUENCE) return;
    const parameters = Uint8Array.from(this.#sequence, (character) => character.charCodeAt(0));
    this.#handler.csi?.(parameters, 0, parameters.length, byte);
  }

  #continueString(byte: number): void {
    // U+009C ends a string as well; its first byte was added to the string.
    const isC1End = byte === 0x9c && this.#previous === C1_LEAD;
    if (isC1End || (byte === BEL && this.#kind === "]")) {
      this.#state = GROUND;
      const isKept = isC1End && this.#sequence.endsWith("\xc2") && this.#sequence.length < LONGEST_SEQUENCE;
      this.#handler.string?.(this.#kind, isKept ? this.#sequence.slice(0, -1) : this.#sequence);
      return;
    }
    this.#previous = byte;
    this.#keep(String.fromCharCode(byte));
  }

  #keep(character: string): void {
    if (this.#sequence.length < LONGEST_SEQUENCE) this.#sequence += character;
  }
}

/** Reports whether a complete multibyte character that is not a control character starts here. */
function isWhole(bytes: Uint8Array, at: number, length: number): boolean {
  if (at + length > bytes.length) return false;
  for (let index = at + 1; index < at + length; index++) {
    const byte = bytes[index] as number;
    if (byte < 0x80 || byte > 0xbf) return false;
  }
  return bytes[at] !== C1_LEAD || (bytes[at + 1] as number) > LAST_C1;
}
