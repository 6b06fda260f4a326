import { search } from "../../present/pattern.ts";

/** Enough for any prompt or message; what lies further back is not looked at again (promise 6). */
export const WINDOW = 64 * 1024;

const ESCAPE = 0x1b;
const BELL = 0x07;
const BACKSLASH = 0x5c;
// Introducers of a string: DCS, SOS, OSC, PM, APC.
const STRING_STARTS = new Set([0x50, 0x58, 0x5d, 0x5e, 0x5f]);

type State = "text" | "escape" | "sequence" | "string" | "string-escape" | "one-more";

/**
 * A terminal's output as it comes, without its escape sequences, for patterns to be looked for in. Knows for each
 * byte that is left where in the output it was.
 */
export class PlainStream {
  readonly #bytes = Buffer.allocUnsafe(2 * WINDOW);
  readonly #ends = new Float64Array(2 * WINDOW);
  #used = 0;
  #state: State = "text";

  /** At most WINDOW of them at a time, to be searched before the next. `position`: of the first of these bytes. */
  add(bytes: Uint8Array, position: number): void {
    let at = position;
    for (const byte of bytes) {
      at++;
      if (this.#keeps(byte)) this.#keep(byte, at);
    }
  }

  /** The first match in the last part of what came, and the position after it. */
  find(pattern: RegExp): { match: string; end: number } | null {
    const text = this.#bytes.toString("utf8", 0, this.#used);
    const found = search(pattern, text);
    if (!found) return null;
    const length = Buffer.byteLength(text.slice(0, found.index + found[0].length));
    return { match: found[0], end: length === 0 ? 0 : (this.#ends[Math.min(length, this.#used) - 1] ?? 0) };
  }

  #keep(byte: number, end: number): void {
    if (this.#used === this.#bytes.length) {
      this.#bytes.copyWithin(0, WINDOW);
      this.#ends.copyWithin(0, WINDOW);
      this.#used = WINDOW;
    }
    this.#bytes[this.#used] = byte;
    this.#ends[this.#used++] = end;
  }

  /** Text, tabs and the ends of lines; everything else acts. */
  #keeps(byte: number): boolean {
    switch (this.#state) {
      case "text":
        if (byte === ESCAPE) this.#state = "escape";
        return (byte >= 0x20 && byte !== 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d;
      case "escape":
        this.#state = afterEscape(byte);
        return false;
      case "sequence":
        if (byte >= 0x40 && byte <= 0x7e) this.#state = "text";
        else if (byte === ESCAPE) this.#state = "escape";
        return false;
      case "string":
        if (byte === BELL) this.#state = "text";
        else if (byte === ESCAPE) this.#state = "string-escape";
        return false;
      case "string-escape":
        this.#state = byte === BACKSLASH ? "text" : afterEscape(byte);
        return false;
      case "one-more":
        this.#state = "text";
        return false;
    }
  }
}

function afterEscape(byte: number): State {
  if (byte === 0x5b) return "sequence";
  if (STRING_STARTS.has(byte)) return "string";
  if (byte === ESCAPE) return "escape";
  return byte >= 0x20 && byte <= 0x2f ? "one-more" : "text"; // a character set is named by one more
}
