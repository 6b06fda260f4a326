/**
 * How xterm (and with it nearly every terminal of today) encodes the keys that have a name. `letter`: `CSI letter`, in
 * application cursor mode `SS3 letter`. `function`: always `SS3 letter`. `tilde`: `CSI number ~`. `plain`: a character.
 */
export type NamedKey =
  | { kind: "letter"; letter: string }
  | { kind: "function"; letter: string }
  | { kind: "tilde"; number: number }
  | { kind: "plain"; text: string; control?: string; shift?: string };

const letter = (name: string): NamedKey => ({ kind: "letter", letter: name });
const tilde = (number: number): NamedKey => ({ kind: "tilde", number });

const ESCAPE = "\u001b";

/** Under the name that is suggested to whoever mistypes one. */
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
  Tab: { kind: "plain", text: "\t", shift: `${ESCAPE}[Z` },
  Escape: { kind: "plain", text: ESCAPE },
  Space: { kind: "plain", text: " ", control: "\0" },
  Backspace: { kind: "plain", text: "\u007f", control: "\b" },
};

for (const [index, name] of ["P", "Q", "R", "S"].entries()) KEYS[`F${index + 1}`] = { kind: "function", letter: name };
// The numbers have gaps: they are those of the keys of the VT220.
for (const [index, number] of [15, 17, 18, 19, 20, 21, 23, 24].entries()) KEYS[`F${index + 5}`] = tilde(number);

/** What tmux, curses, browsers and people call them. */
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

export const KEY_NAMES: readonly string[] = Object.keys(KEYS);

const BY_NAME = new Map(Object.entries(KEYS).map(([name, key]) => [name.toLowerCase(), key]));
for (const [other, name] of Object.entries(OTHER_NAMES)) BY_NAME.set(other, KEYS[name] as NamedKey);

/** Capital letters do not matter in a name; null: there is no such key. */
export function namedKey(name: string): NamedKey | null {
  return BY_NAME.get(name.toLowerCase()) ?? null;
}
