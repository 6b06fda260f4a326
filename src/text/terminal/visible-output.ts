import { visible } from "../visible.ts";

/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: matches escape sequences */
/** A sequence that sets colors, a line break, or a character that a terminal interprets instead of showing it. */
const SPECIAL = new RegExp(
  [
    "\\x1b\\[[0-9;]{0,32}m",
    "\\r\\n",
    "(?![\\n\\t])[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]",
  ].join("|"),
  "g",
);
/** The start of a sequence or of a line break whose end may follow in the next piece. */
const INCOMPLETE = /(?:\x1b(?:\[[0-9;]{0,32})?|\r)$/;
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: matches escape sequences */

/**
 * Attributes that keep text readable on light and dark terminals. The others could hide it: conceal, black, white,
 * background colors and color numbers.
 */
const READABLE = new Set(["", "0", "1", "2", "3", "4", "9", "22", "23", "24", "29", "39"]);

function isReadable(parameter: string): boolean {
  return READABLE.has(parameter) || /^[39][1-6]$/.test(parameter);
}

/**
 * Converts the output of a command to text that a person can look at on a terminal: control characters and escape
 * sequences are shown instead of interpreted, so that output cannot move the cursor, hide text, or write to the
 * clipboard (invariant 2). Readable colors are kept, if wanted. A carriage return starts a new line.
 */
export class VisibleOutput {
  readonly #decoder = new TextDecoder();
  readonly #color: boolean;
  #held = "";
  #colored = false;

  constructor({ color }: { color: boolean }) {
    this.#color = color;
  }

  /** Converts the next piece of output. An incomplete sequence is held back until the next piece. */
  convert(bytes: Uint8Array): string {
    return this.#convert(this.#held + this.#decoder.decode(bytes, { stream: true }), false);
  }

  /** Returns the rest of the output, and the sequence that resets the colors, if any are set. */
  end(): string {
    const rest = this.#convert(this.#held + this.#decoder.decode(), true);
    return this.#colored ? `${rest}\x1b[0m` : rest;
  }

  #convert(text: string, last: boolean): string {
    this.#held = last ? "" : (INCOMPLETE.exec(text)?.[0] ?? "");
    return text.slice(0, text.length - this.#held.length).replace(SPECIAL, (found) => {
      if (found === "\r\n" || found === "\r") return "\n";
      return found.length > 2 ? this.#colors(found.slice(2, -1)) : visible(found);
    });
  }

  #colors(parameters: string): string {
    if (!this.#color) return "";
    const all = parameters.split(";");
    // `38;5;N` and similar have numbers of their own, which would be taken for attributes.
    const extended = all.findIndex((one) => one === "38" || one === "48" || one === "58");
    const kept = (extended === -1 ? all : all.slice(0, extended)).filter(isReadable);
    if (kept.length === 0) return "";
    this.#colored = !kept.every((one) => one === "" || one === "0" || one === "39");
    return `\x1b[${kept.join(";")}m`;
  }
}
