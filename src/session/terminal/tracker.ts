import { Colours } from "./colours.ts";
import { isWhole } from "./whole-character.ts";

/**
 * Follows a program's output without drawing it, some twenty times as fast as a terminal that does: which modes it
 * switched on, and whether it is in the middle of a sequence or a character. What a terminal restored from a
 * checkpoint, or brought past megabytes of repaints, cannot know otherwise. Memory is bounded whatever comes.
 */

const GROUND = 0;
const ESCAPED = 1;
const CONTROL = 2;
const STRING = 3;
const CHARACTER = 4;

const ESC = 0x1b;
const BEL = 0x07;
const CANCEL = 0x18;
const SUBSTITUTE = 0x1a;
const FEED = 0x0a;
const BRACKET = 0x5b;
const COLOUR = 0x6d;

/** What is kept of a sequence: more than any that matters has. */
const LONGEST_SEQUENCE = 64;
const LONGEST_TITLE = 1024;
const MOST_MODES = 64;

/** Control sequences that reach beyond the current line: with one of them, an output is more than lines. */
const PLACING = new Set("ABEFHJLMSTdefru");

/** By final character: 1 to be read, 2 only to be counted. */
const MINDED = new Uint8Array(128);
for (const final of PLACING) MINDED[final.charCodeAt(0)] = 2;
for (const final of "hlrp") MINDED[final.charCodeAt(0)] = 1;

// Whatever these modes do, they do it before any other.
/** Not a state, but something done with the cursor. */
const SAVED_CURSOR = "?1048";
const ALTERNATE_SCREEN = new Set(["?47", "?1047", "?1049"]);

export class Tracker {
  #state = GROUND;
  #sequence = "";
  #stringKind = "";
  /** Continuation bytes of a character that are still to come. */
  #missing = 0;
  #begun = 0;
  #modes = new Map<string, string>();
  #margins = "";
  #charsets = new Map<string, string>();
  #shifted = "";
  #colours = new Colours();
  #title: string | null = null;
  #wasReset = false;
  #last = 0;
  #saved = new Map<boolean, { colours: string[]; charsets: Map<string, string>; shifted: string }>();

  /** Line feeds, and sequences that reach beyond their line, so far. */
  lineFeeds = 0;
  placings = 0;

  /** Not in the middle of a sequence or a character. */
  get isSettled(): boolean {
    return this.#state === GROUND;
  }

  /** Settled, and what comes next cannot belong to a character (an accent, the rest of an emoji) that is drawn already. */
  get mayBeSaved(): boolean {
    return this.isSettled && this.#last < 0x80;
  }

  /** Bytes since the one that began the sequence or character it is in the middle of. */
  get begun(): number {
    return this.isSettled ? 0 : this.#begun;
  }

  /** What has another terminal take what comes for the rest of such a string, which nobody sees. */
  get swallow(): string {
    return this.#state === STRING ? `\x1b${this.#stringKind === "]" ? "]7777;" : "_"}` : "";
  }

  push(bytes: Uint8Array): void {
    this.#last = bytes.at(-1) ?? this.#last;
    for (let at = 0; at < bytes.length; ) {
      if (this.#state !== GROUND) {
        this.#begun = bytes[at] === ESC ? 1 : this.#begun + 1;
        this.#step(bytes[at++] as number);
        continue;
      }
      at = this.#ground(bytes, at);
      this.#begun = 1; // if it is in a sequence now, that began with the last byte
    }
  }

  /** Text, and sequences that are there whole, up to something that is not; the one loop that matters for speed. */
  #ground(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte >= 0x20 && byte < 0x80) continue;
      if (byte === FEED) this.lineFeeds++;
      else if (byte === ESC) {
        const end = bytes[at + 1] === BRACKET ? this.#wholeControl(bytes, at + 2) : 0;
        if (end === 0) {
          this.#begin(ESCAPED);
          return at + 1;
        }
        at = end;
      } else if (byte >= 0xc2 && byte < 0xf5) {
        const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
        if (isWhole(bytes, at, length)) at += length - 1;
        else {
          this.#state = CHARACTER;
          this.#missing = length - 1;
          this.#sequence = byte === 0xc2 ? "\xc2" : "";
          return at + 1;
        }
      } else if (byte === 0x0e || byte === 0x0f) this.#shifted = byte === 0x0e ? "\x0e" : "";
    }
    return bytes.length;
  }

  /** A control sequence of which nothing is missing: where its last byte is; else 0. */
  #wholeControl(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length && (bytes[at] as number) >= 0x20 && (bytes[at] as number) < 0x40) at++;
    const final = bytes[at] ?? 0;
    if (final < 0x40 || final > 0x7e || at - from >= LONGEST_SEQUENCE) return 0;
    const minded = MINDED[final];
    if (final === COLOUR) this.#colours.push(bytes, from, at);
    else if (minded === 1)
      this.#control(Buffer.from(bytes.subarray(from, at)).toString("latin1"), String.fromCharCode(final));
    else if (minded === 2) this.placings++;
    return at;
  }

  #begin(state: number): void {
    this.#state = state;
    this.#sequence = "";
  }

  #step(byte: number): void {
    if (this.#state === CHARACTER) this.#continueCharacter(byte);
    else if (byte === CANCEL || byte === SUBSTITUTE) this.#state = GROUND;
    else if (byte === ESC) {
      this.#endString();
      this.#begin(ESCAPED);
    } else if (this.#state === ESCAPED) this.#continueEscape(byte);
    else if (this.#state === CONTROL) this.#continueControl(byte);
    else this.#continueString(byte);
  }

  #continueCharacter(byte: number): void {
    if (byte < 0x80 || byte > 0xbf) {
      this.#state = GROUND;
      this.#ground(Uint8Array.of(byte), 0);
      return;
    }
    if (this.#sequence === "\xc2" && byte < 0xa0) {
      // U+0080 to U+009F: an escape in one character.
      this.#begin(ESCAPED);
      this.#continueEscape(byte - 0x40);
      return;
    }
    if (--this.#missing === 0) this.#state = GROUND;
  }

  #continueEscape(byte: number): void {
    if (byte < 0x20) return;
    const character = String.fromCharCode(byte);
    if (byte < 0x30) {
      if (this.#sequence.length < LONGEST_SEQUENCE) this.#sequence += character;
      return;
    }
    if (this.#sequence === "" && character === "[") this.#begin(CONTROL);
    else if (this.#sequence === "" && "]PX^_".includes(character)) {
      this.#stringKind = character;
      this.#begin(STRING);
    } else {
      this.#state = GROUND;
      if (byte < 0x7f) this.#escape(this.#sequence, character);
    }
  }

  #continueControl(byte: number): void {
    if (byte < 0x20 || byte >= 0x7f) return;
    if (byte < 0x40) {
      if (this.#sequence.length < LONGEST_SEQUENCE) this.#sequence += String.fromCharCode(byte);
      return;
    }
    this.#state = GROUND;
    if (this.#sequence.length < LONGEST_SEQUENCE) this.#control(this.#sequence, String.fromCharCode(byte));
  }

  #continueString(byte: number): void {
    if (byte === BEL && this.#stringKind === "]") {
      this.#endString();
      this.#state = GROUND;
      return;
    }
    // U+009C ends a string as well: its first byte is taken for text of it, which nobody sees.
    if (byte === 0x9c && this.#sequence.endsWith("\xc2")) {
      this.#sequence = this.#sequence.slice(0, -1);
      this.#endString();
      this.#state = GROUND;
      return;
    }
    if (this.#sequence.length < LONGEST_TITLE) this.#sequence += String.fromCharCode(byte);
    else this.#sequence = this.#sequence.slice(0, LONGEST_TITLE) + (byte === 0xc2 ? "\xc2" : "");
  }

  #endString(): void {
    if (this.#state !== STRING || this.#stringKind !== "]") return;
    const title = /^[02];(.*)$/s.exec(this.#sequence)?.[1];
    if (title !== undefined) this.#title = title;
  }

  #escape(intermediates: string, final: string): void {
    if (intermediates === "" && final === "c") this.#reset();
    else if (intermediates === "" && (final === "=" || final === ">")) this.#setMode("?66", final === "=" ? "h" : "l");
    else if (intermediates === "" && final === "M") this.placings++;
    else if (intermediates === "" && final === "7") this.#saveStyle();
    else if (intermediates === "" && final === "8") this.#restoreStyle();
    else if (/^[()*+]$/.test(intermediates)) this.#charsets.set(intermediates, final);
  }

  #control(parameters: string, final: string): void {
    if (PLACING.has(final)) this.placings++;
    if (final === "m") this.#colours.push(Buffer.from(parameters, "latin1"), 0, parameters.length);
    else if (final === "h" || final === "l") this.#switch(parameters, final);
    else if (final === "r" && /^[\d;]*$/.test(parameters)) this.#margins = parameters;
    else if (final === "p" && parameters === "!") this.#softReset();
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
      this.placings++;
      if (mode === "?1049" && final === "h") this.#saveStyle();
      for (const other of ALTERNATE_SCREEN) this.#modes.delete(other);
    }
    // The last one of a group counts: a later mode is not to be undone by an earlier one.
    this.#modes.delete(mode);
    this.#modes.set(mode, final);
    if (mode === "?1049" && final === "l") this.#restoreStyle();
    if (this.#modes.size > MOST_MODES) this.#modes.delete(this.#modes.keys().next().value as string);
  }

  /** With the cursor's position go its colours and character sets, for each screen apart. */
  #saveStyle(): void {
    this.#saved.set(this.#isAlternate, {
      colours: this.colours(),
      charsets: new Map(this.#charsets),
      shifted: this.#shifted,
    });
  }

  #restoreStyle(): void {
    const saved = this.#saved.get(this.#isAlternate);
    this.#colours.reset();
    for (const sequence of saved?.colours ?? []) this.push(Buffer.from(sequence, "latin1"));
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
    this.#colours.reset();
  }

  #reset(): void {
    this.#modes.clear();
    this.#margins = "";
    this.#charsets.clear();
    this.#shifted = "";
    this.#colours.reset();
    this.#title = null;
    this.#saved.clear();
    this.#wasReset = true;
  }

  /** The sequences since colours were last reset. */
  colours(): string[] {
    return this.#colours.sequences();
  }

  /** What brings a terminal that saw nothing of this output into the modes it left. It moves the cursor. */
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
      ...this.colours(),
      this.title(),
    ];
    return Buffer.from(parts.join(""), "latin1");
  }

  /** The sequences that set what is set, but for which screen is shown. */
  modes(): string[] {
    const switches = [...this.#modes].filter(([mode]) => !ALTERNATE_SCREEN.has(mode));
    return switches.map(([mode, final]) => `\x1b[${mode}${final}`);
  }

  /** Bytes as characters, like all that is kept of the output. */
  title(): string {
    return this.#title === null ? "" : `\x1b]2;${this.#title}\x07`;
  }

  /** As in the sequence that set them; empty for the whole screen. */
  get margins(): string {
    return this.#margins;
  }

  get cursorVisible(): boolean {
    return this.#modes.get("?25") !== "l";
  }

  /** Line drawing characters in place of letters, for instance. */
  charsets(): string {
    return [...this.#charsets].map(([slot, name]) => `\x1b${slot}${name}`).join("") + this.#shifted;
  }
}
