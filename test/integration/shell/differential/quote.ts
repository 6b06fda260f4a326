import type { Random } from "./random.ts";

/** Quotes a literal in a randomly chosen way. */
export function quoted(random: Random, literal: string): string {
  switch (random.int(9)) {
    case 0:
    case 1:
    case 2:
      return plain(literal) ?? single(literal);
    case 3:
      return single(literal);
    case 4:
      return double(literal);
    case 5:
      return ansi(random, literal);
    case 6:
      return escaped(literal);
    case 7:
      return `$${double(literal)}`;
    default:
      return mixed(random, literal);
  }
}

/** Quotes a whole script as one word, for `bash -c`, `eval` and `trap`. */
export function script(random: Random, text: string): string {
  return random.pick([single, single, double, (value: string) => ansi(random, value)])(text);
}

export function single(literal: string): string {
  return `'${literal.replaceAll("'", "'\\''")}'`;
}

function plain(literal: string): string | null {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(literal) ? literal : null;
}

function double(literal: string): string {
  return `"${literal.replace(/["\\$`]/g, "\\$&")}"`;
}

function escaped(literal: string): string {
  if (literal === "" || literal.includes("\n")) return single(literal);
  return literal.replace(/[^A-Za-z0-9_]|^./g, "\\$&");
}

function ansi(random: Random, literal: string): string {
  const characters = [...literal].map((character) => {
    const code = character.charCodeAt(0);
    if (character === "'" || character === "\\") return `\\${character}`;
    if (character === "\n") return "\\n";
    if (!random.oneIn(4)) return character;
    const hex = code.toString(16).padStart(2, "0");
    return random.pick([`\\x${hex}`, `\\${code.toString(8).padStart(3, "0")}`, `\\u00${hex}`, `\\U000000${hex}`]);
  });
  return `$'${characters.join("")}'`;
}

/** Quotes a literal piece by piece, with line continuations or empty quotes in between. */
function mixed(random: Random, literal: string): string {
  if (literal.length < 2) return double(literal);
  const at = 1 + random.int(literal.length - 1);
  const seam = random.pick(["", "", "''", '""', "\\\n", "$''"]);
  return quoted(random, literal.slice(0, at)) + seam + quoted(random, literal.slice(at));
}
