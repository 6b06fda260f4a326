/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are what it is about */
/**
 * What asks the terminal something. The keeper has answered already; if our own terminal did so as well, its answer
 * would be typed into the program a second time.
 */
const QUESTION = new RegExp(
  [
    "\\x1b\\[[>=]?[0-9]*c", // what are you
    "\\x1b\\[\\??[0-9]+n", // how are you, where is the cursor
    "\\x1b\\[>[0-9]*q", // which version
    "\\x1b\\[\\??[0-9]+\\$p", // is this mode set
    "\\x1b\\[(?:1[1-9]|2[01])(?:;[0-9;]*)?t", // how large is the window
    "\\x1b\\[\\?u", // which keyboard protocol
    "\\x1bZ",
    "\\x1b\\](?:4;[0-9]+|1[0-9]|52;[a-z]*);\\?(?:\\x07|\\x1b\\\\)", // which colours, what was copied
    "\\x1bP(?:\\$q|\\+q)[^\\x1b]*\\x1b\\\\", // which settings and capabilities
  ].join("|"),
  "g",
);
/** A sequence that may go on in the next piece. */
const BEGUN = /\x1b(?:\[[0-?]*[ -/]*|[\]P_^X][^\x07\x1b]*\x1b?|[ -/]*)?$/;
const MODES = /\x1b\[\?([0-9;]+)([hl])/g;
const KEYPAD = /\x1b([=>])/g;
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: they are what it is about */

/** A string sequence longer than this is passed on as it comes. */
const LONGEST_HELD = 4096;
/** Modes that a terminal must not be left in, in the order in which they are switched off. */
const LEFT_BEHIND = [1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026, 1, 66, 47, 1047, 1049];

/** A program's output on its way to our own terminal. Bytes stay as they are; questions stay out. */
export class Passage {
  #held = "";
  readonly #on = new Set<number>();
  #cursorHidden = false;
  #keypad = false;

  pass(bytes: Uint8Array): Buffer {
    const text = this.#held + Buffer.from(bytes).toString("latin1");
    const cut = text.search(BEGUN);
    const whole = cut < 0 || text.length - cut > LONGEST_HELD ? text : text.slice(0, cut);
    this.#held = text.slice(whole.length);
    this.#note(whole);
    return Buffer.from(whole.replace(QUESTION, ""), "latin1");
  }

  /** What undoes the modes that are on. */
  undo(): string {
    const modes = LEFT_BEHIND.filter((mode) => this.#on.has(mode)).map((mode) => `\x1b[?${mode}l`);
    if (this.#cursorHidden) modes.push("\x1b[?25h");
    if (this.#keypad) modes.push("\x1b>");
    return `${modes.join("")}\x1b[m`;
  }

  #note(text: string): void {
    for (const [, numbers = "", how] of text.matchAll(MODES)) {
      for (const mode of numbers.split(";").map(Number)) {
        if (mode === 25) this.#cursorHidden = how === "l";
        else if (how === "h") this.#on.add(mode);
        else this.#on.delete(mode);
      }
    }
    for (const [, how] of text.matchAll(KEYPAD)) this.#keypad = how === "=";
  }
}
