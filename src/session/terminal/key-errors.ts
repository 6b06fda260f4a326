import { SallyportError } from "../../core/error.ts";
import { nearNames } from "../../text/nearest.ts";
import { visible } from "../../text/visible.ts";

const LONGEST_SHOWN = 40;
const MOST_SUGGESTED = 3;

const NAME_KEYS = {
  action: "name_keys",
  hint: "Keys are named like Enter, Escape, Tab, Up, PageDown, F5, C-c, M-x and S-Tab; 0x1b is a byte.",
};
const WRITE_TEXT = {
  action: "write_text",
  hint: "To type a text, write or paste it instead; a key is one of its characters.",
};

export function unknownKey(key: string, names: readonly string[]): SallyportError {
  const near = nearKeys(key, names);
  const recovery = near.length > 0 ? [{ action: "use_near_name", hint: `Did you mean ${near.join(" or ")}?` }] : [];
  return new SallyportError("InvalidRequest", `There is no key ${shown(key)}.`, [...recovery, NAME_KEYS, WRITE_TEXT], {
    near,
  });
}

/** A terminal sends characters, not keys: most modifiers leave no trace on most characters. */
export function keyWithoutCode(key: string): SallyportError {
  return new SallyportError("InvalidRequest", `A terminal has no code for the key ${shown(key)}.`, [
    { action: "drop_modifier", hint: "Programs cannot tell it from the key without the modifier: send that one." },
    NAME_KEYS,
  ]);
}

export function notKeys(received: unknown): SallyportError {
  const kind = Array.isArray(received) ? "a list with something else in it" : `a ${typeof received}`;
  return new SallyportError("InvalidRequest", `\`keys\` must be a list of names; received ${kind}.`, [NAME_KEYS]);
}

export function tooManyKeys(count: number, most: number): SallyportError {
  return new SallyportError("InvalidRequest", `At most ${most} keys are sent at once; received ${count}.`, [
    WRITE_TEXT,
    { action: "split_keys", hint: "Or send them in several calls." },
  ]);
}

/** The modifiers are kept: who mistyped `C-Hom` meant `C-Home`. */
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
