import { SallyportError } from "../../core/error.ts";
import { nearNames } from "../../text/nearest.ts";
import { visible } from "../../text/visible.ts";
import { graphemesOf } from "../../text/width.ts";

/**
 * The encoding of a named key in xterm and compatible terminals. `letter` keys send `CSI letter`, or `SS3 letter` in
 * application cursor mode. `function` keys always send `SS3 letter`, `tilde` keys `CSI number ~`, `plain` keys a
 * character.
 */
type NamedKey =
  | { kind: "letter"; letter: string }
  | { kind: "function"; letter: string }
  | { kind: "tilde"; number: number }
  | { kind: "plain"; text: string; control?: string; shift?: string };

const letter = (name: string): NamedKey => ({ kind: "letter", letter: name });
const tilde = (number: number): NamedKey => ({ kind: "tilde", number });

const ESC = "\u001b";

/** Keys by canonical name. */
const KEYS: Record<string, NamedKey> = {
  Up: letter("A"),
  Down: letter("B"),
  Right: letter("C"),
  Left: letter("D"),
  End: letter("F"),
  Home: letter("H"),
  Insert: tilde(2),
  Delete: tilde(3),
  PageUp: tilde(5),
  PageDown: tilde(6),
  Enter: { kind: "plain", text: "\r" },
  Tab: { kind: "plain", text: "\t", shift: `${ESC}[Z` },
  Escape: { kind: "plain", text: ESC },
  Space: { kind: "plain", text: " ", control: "\0" },
  Backspace: { kind: "plain", text: "\u007f", control: "\b" },
};

for (const [index, name] of ["P", "Q", "R", "S"].entries()) KEYS[`F${index + 1}`] = { kind: "function", letter: name };
// The numbers are those of the VT220's keys and have gaps.
for (const [index, number] of [15, 17, 18, 19, 20, 21, 23, 24].entries()) KEYS[`F${index + 5}`] = tilde(number);

/** Names used by tmux, curses and browsers, and common abbreviations. */
const OTHER_NAMES: Record<string, string> = {
  return: "Enter",
  cr: "Enter",
  esc: "Escape",
  bspace: "Backspace",
  bs: "Backspace",
  ic: "Insert",
  ins: "Insert",
  dc: "Delete",
  del: "Delete",
  ppage: "PageUp",
  pgup: "PageUp",
  npage: "PageDown",
  pgdn: "PageDown",
  pgdown: "PageDown",
  arrowup: "Up",
  arrowdown: "Down",
  arrowleft: "Left",
  arrowright: "Right",
};

const KEY_NAMES: readonly string[] = Object.keys(KEYS);

const BY_NAME = new Map(Object.entries(KEYS).map(([name, key]) => [name.toLowerCase(), key]));
for (const [other, name] of Object.entries(OTHER_NAMES)) BY_NAME.set(other, KEYS[name] as NamedKey);

/** Looks up a key by name, ignoring case; null when there is no such key. */
function namedKey(name: string): NamedKey | null {
  return BY_NAME.get(name.toLowerCase()) ?? null;
}

const LONGEST_SHOWN = 40;
const MOST_SUGGESTED = 3;

const NAME_KEYS = {
  action: "name_keys",
  hint: "Use key names such as Enter, Escape, Tab, Up, PageDown, F5, C-c, M-x and S-Tab, or a byte such as 0x1b.",
};

const WRITE_TEXT = {
  action: "write_text",
  hint: "To type text, write or paste it. A key is a key name or a single character.",
};

function unknownKey(key: string, names: readonly string[]): SallyportError {
  const near = nearKeys(key, names);
  const recovery = near.length > 0 ? [{ action: "use_near_name", hint: `Did you mean ${near.join(" or ")}?` }] : [];
  return new SallyportError("InvalidRequest", `Unknown key: ${shown(key)}.`, [...recovery, NAME_KEYS, WRITE_TEXT], {
    near,
  });
}

/**
 * Returns the error for a key that has no encoding. Terminals encode characters, not key presses, so this applies to
 * most combinations of modifier and character.
 */
function keyWithoutCode(key: string): SallyportError {
  return new SallyportError("InvalidRequest", `Terminals have no code for the key ${shown(key)}.`, [
    {
      action: "drop_modifier",
      hint: "Send the key without the modifier. Programs on a terminal cannot tell the two apart.",
    },
    NAME_KEYS,
  ]);
}

function notKeys(received: unknown): SallyportError {
  const kind = Array.isArray(received) ? "a list with other values" : `a value of type ${typeof received}`;
  return new SallyportError("InvalidRequest", `\`keys\` must be a list of strings; received ${kind}.`, [NAME_KEYS]);
}

function tooManyKeys(count: number, most: number): SallyportError {
  return new SallyportError("InvalidRequest", `\`keys\` must have at most ${most} entries; received ${count}.`, [
    WRITE_TEXT,
    { action: "split_keys", hint: "Or send the keys in several calls." },
  ]);
}

/** Returns similar key names, with the modifiers of the original: `C-Home` for `C-Hom`. */
function nearKeys(key: string, names: readonly string[]): string[] {
  const [, modifiers = "", name = ""] = /^((?:[a-z]+[-+])*)(.*)$/isu.exec(key) ?? [];
  const lower = new Map(names.map((known) => [known.toLowerCase(), known]));
  const near = nearNames(name.toLowerCase(), lower.keys(), MOST_SUGGESTED);
  return near.map((found) => modifiers + lower.get(found));
}

function shown(key: string): string {
  const cut = key.length > LONGEST_SHOWN ? `${key.slice(0, LONGEST_SHOWN).toWellFormed()}…` : key;
  return `"${visible(cut)}"`;
}

/** Terminal modes, set by the program, that affect how keys are encoded. */
interface KeyModes {
  applicationCursor: boolean;
}

interface Modifiers {
  shift: boolean;
  meta: boolean;
  control: boolean;
}

const MOST_KEYS = 4096;
/** The maximum length of a key, which is longer than any key name with its modifiers and any grapheme cluster. */
const LONGEST_KEY = 64;
const ESCAPE = "\u001b";

// Matches `C-` and `Ctrl+` only before another character, so that `C--` is Control and a minus.
const MODIFIER = /^(C|Ctrl|Control|M|Meta|A|Alt|S|Shift)[-+](?=.)/iu;
const CARET = /^\^([@-_a-z?])$/;
const HEX = /^0x((?:[\da-f]{2})+)$/i;

/**
 * Returns the bytes that a terminal sends for these keys. A key is a name (`Enter`, `Up`, `F5`) or a single character,
 * with optional modifiers (`C-c`, `M-x`, `S-Tab`, also `Ctrl+C` and `^C`), or bytes in hex (`0x1b`).
 *
 * @example
 * encodeKeys(["Escape", ":", "w", "q", "Enter"], { applicationCursor: false });
 */
export function encodeKeys(keys: string[], modes: KeyModes): Uint8Array {
  if (!Array.isArray(keys) || keys.some((key) => typeof key !== "string")) throw notKeys(keys);
  if (keys.length > MOST_KEYS) throw tooManyKeys(keys.length, MOST_KEYS);
  return Buffer.concat(keys.map((key) => encodeKey(key, modes)));
}

function encodeKey(key: string, modes: KeyModes): Buffer {
  if (key.length > LONGEST_KEY) throw unknownKey(key, KEY_NAMES);
  const hex = HEX.exec(key)?.[1];
  if (hex !== undefined) return Buffer.from(hex, "hex");
  const { name, modifiers } = split(key);
  const named = namedKey(name) ?? functionKeyAbove12(name, modifiers);
  if (named) return Buffer.from(encodeNamed(named, modifiers, modes) ?? refuse(key));
  if (!isOneCharacter(name)) throw unknownKey(key, KEY_NAMES);
  return Buffer.from(encodeCharacter(name, modifiers) ?? refuse(key));
}

function split(key: string): { name: string; modifiers: Modifiers } {
  const modifiers: Modifiers = { shift: false, meta: false, control: false };
  let name = key;
  for (let match = MODIFIER.exec(name); match; match = MODIFIER.exec(name)) {
    const first = (match[1] as string)[0]?.toUpperCase();
    if (first === "C") modifiers.control = true;
    else if (first === "S") modifiers.shift = true;
    else modifiers.meta = true;
    name = name.slice(match[0].length);
  }
  const caret = CARET.exec(name)?.[1];
  if (caret === undefined) return { name, modifiers };
  return { name: caret, modifiers: { ...modifiers, control: true } };
}

/** Maps F13 to F24 to Shift with F1 to F12, which is what terminals send for them according to terminfo. */
function functionKeyAbove12(name: string, modifiers: Modifiers): NamedKey | null {
  const number = Number(/^f(1[3-9]|2[0-4])$/i.exec(name)?.[1]);
  if (Number.isNaN(number) || modifiers.shift) return null;
  modifiers.shift = true;
  return namedKey(`F${number - 12}`);
}

function encodeNamed(key: NamedKey, modifiers: Modifiers, modes: KeyModes): string | null {
  // The modifier parameter is 1 plus one bit per modifier.
  const number = 1 + (modifiers.shift ? 1 : 0) + (modifiers.meta ? 2 : 0) + (modifiers.control ? 4 : 0);
  switch (key.kind) {
    case "letter":
      if (number > 1) return `${ESCAPE}[1;${number}${key.letter}`;
      return modes.applicationCursor ? `${ESCAPE}O${key.letter}` : `${ESCAPE}[${key.letter}`;
    case "function":
      return number > 1 ? `${ESCAPE}[1;${number}${key.letter}` : `${ESCAPE}O${key.letter}`;
    case "tilde":
      return number > 1 ? `${ESCAPE}[${key.number};${number}~` : `${ESCAPE}[${key.number}~`;
    case "plain":
      return encodePlain(key, modifiers);
  }
}

function encodePlain(key: Extract<NamedKey, { kind: "plain" }>, { shift, meta, control }: Modifiers): string | null {
  const text = control ? (shift ? undefined : key.control) : shift ? key.shift : key.text;
  return text === undefined ? null : (meta ? ESCAPE : "") + text;
}

function encodeCharacter(character: string, { shift, meta, control }: Modifiers): string | null {
  let text: string | null = character;
  if (control) text = shift ? null : controlCharacter(character);
  else if (shift) text = /^\p{Ll}$/u.test(character) ? character.toUpperCase() : null;
  return text === null ? null : (meta ? ESCAPE : "") + text;
}

// xterm's alternatives for control characters that are hard to type on some keyboards.
const CONTROL_AS = new Map(Object.entries({ "2": "@", "3": "[", "4": "\\", "5": "]", "6": "^", "7": "_", "/": "_" }));

function controlCharacter(character: string): string | null {
  if (character === "?" || character === "8") return "\u007f";
  const on = (CONTROL_AS.get(character) ?? character).toUpperCase();
  return /^[@-_]$/.test(on) ? String.fromCharCode(on.charCodeAt(0) & 0x1f) : null;
}

function isOneCharacter(text: string): boolean {
  if (!text.isWellFormed()) return false;
  const [first, second] = [...graphemesOf(text)];
  if (first === undefined || second !== undefined) return false;
  return [...text].length === 1 || !/\p{Cc}/u.test(text);
}

function refuse(key: string): never {
  throw keyWithoutCode(key);
}

const START = "\u001b[200~";
const END = "\u001b[201~";

/**
 * Returns what a terminal sends when this text is pasted. If the program has enabled bracketed paste (`marked`), the
 * text is enclosed in markers. Markers inside the text are removed, so that it cannot end the paste early.
 */
export function encodePaste(text: string, marked: boolean): string {
  const typed = text.replaceAll(START, "").replaceAll(END, "").replace(/\r?\n/g, "\r");
  return marked ? `${START}${typed}${END}` : typed;
}
