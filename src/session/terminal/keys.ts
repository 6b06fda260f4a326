import { graphemesOf } from "../../text/graphemes.ts";
import { keyWithoutCode, notKeys, tooManyKeys, unknownKey } from "./key-errors.ts";
import { KEY_NAMES, type NamedKey, namedKey } from "./key-table.ts";

/** What a program switched on at its terminal, and keys depend on. */
interface KeyModes {
  applicationCursor: boolean;
}

interface Modifiers {
  shift: boolean;
  meta: boolean;
  control: boolean;
}

const MOST_KEYS = 4096;
/** Longer than any name with its modifiers, and than any character made of several. */
const LONGEST_KEY = 64;
const ESCAPE = "\u001b";

// `C-x`, `Ctrl+x`; the key itself comes last, so that `C--` is Control and a minus.
const MODIFIER = /^(C|Ctrl|Control|M|Meta|A|Alt|S|Shift)[-+](?=.)/iu;
const CARET = /^\^([@-_a-z?])$/;
const HEX = /^0x((?:[\da-f]{2})+)$/i;

/**
 * The bytes a terminal would send for these keys: names (`Enter`, `Up`, `F5`), single characters, each with modifiers
 * (`C-c`, `M-x`, `S-Tab`, also `Ctrl+C` and `^C`), and bytes in hex (`0x1b`).
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

/** Keyboards have none any more: terminals send Shift with F1 to F12 for them, and say so in terminfo. */
function functionKeyAbove12(name: string, modifiers: Modifiers): NamedKey | null {
  const number = Number(/^f(1[3-9]|2[0-4])$/i.exec(name)?.[1]);
  if (Number.isNaN(number) || modifiers.shift) return null;
  modifiers.shift = true;
  return namedKey(`F${number - 12}`);
}

function encodeNamed(key: NamedKey, modifiers: Modifiers, modes: KeyModes): string | null {
  // 1 and a bit for each modifier.
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

// Digits and the slash as xterm has them, for keyboards on which the right character is hard to reach.
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
