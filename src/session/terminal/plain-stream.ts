import { search } from "../../text/regex.ts";
import { EscapeScanner } from "../../text/terminal/escape.ts";

/** Enough for any prompt or message; what lies further back is not looked at again (promise 6). */
export const WINDOW = 64 * 1024;

const TAB = 0x09;
const FEED = 0x0a;
const RETURN = 0x0d;

/**
 * A terminal's output as it comes, without its escape sequences, for patterns to be looked for in. Knows for each
 * byte that is left where in the output it was.
 */
export class PlainStream {
  readonly #bytes = Buffer.allocUnsafe(2 * WINDOW);
  readonly #ends = new Float64Array(2 * WINDOW);
  #used = 0;
  readonly #scanner = new EscapeScanner({
    text: (bytes, from, to) => this.#keepText(bytes, from, to),
    control: (code, at) => this.#keepControl(code, at),
  });
  #added: Uint8Array = this.#bytes;
  #position = 0;

  /** At most WINDOW of them at a time, to be searched before the next. `position`: of the first of these bytes. */
  add(bytes: Uint8Array, position: number): void {
    this.#added = bytes;
    this.#position = position;
    this.#scanner.push(bytes);
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

  #keepText(bytes: Uint8Array, from: number, to: number): void {
    // The first byte of a character that was split comes apart: it ended the bytes before these.
    const isAdded = bytes === this.#added;
    for (let at = from; at < to; at++) this.#keep(bytes[at] as number, this.#position + (isAdded ? at + 1 : 0));
  }

  #keepControl(code: number, at: number): void {
    if (code === TAB || code === FEED || code === RETURN) this.#keep(code, this.#position + at + 1);
  }
}
