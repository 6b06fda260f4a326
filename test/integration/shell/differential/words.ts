import { quoted } from "./quote.ts";
import type { Writer } from "./text.ts";

export const literals = ["a", "b1", "foo", "-v", "--opt=1", "x=y", "a.b", "12", "@", "%s", "a:b", "-", "--"];
const awkward = [
  "a b",
  "a;b",
  "x|y",
  "p&q",
  "(z)",
  "a>b",
  "#c",
  "a#b",
  "$x",
  "`y`",
  "a\\b",
  "it's",
  'say "hi"',
  "*",
  "{q}",
];
export const variables = ["v", "w", "x1"];
const unset = ["nope", "none"];

export function words(writer: Writer, depth: number): string {
  const words: string[] = [];
  for (let count = writer.random.int(3); count >= 0; count--) words.push(word(writer, depth));
  return words.join(writer.gap());
}

export function word(writer: Writer, depth: number): string {
  const { random } = writer;
  const roll = random.int(20);
  if (depth <= 0 || roll < 9) return quoted(random, random.pick(random.oneIn(3) ? awkward : literals));
  if (roll < 11)
    return random.pick([
      "{a,b}",
      "x{1..3}",
      "{p,q{r,s}}t",
      "a{,}",
      "{x}",
      "{a,b",
      "{c..a}",
      "'{'a,b}",
      "{1..5..2}",
      '{"a b",c}',
    ]);
  if (roll < 12) return random.pick(["~", "~/x", "'~'", "a~", "x=~/y", '""', "''"]);
  if (roll < 15) return parameter(writer, depth - 1);
  const inner = writer.list(depth - 1, 2);
  return random.pick([
    () => `$(${inner})`,
    () => `"$(${inner})"`,
    () => `"a $(${inner}) b"`,
    () => `\`${inner.replace(/[\\`]/g, "\\$&")}\``,
    () => (inner.includes('"') ? `"$( ${inner})"` : `"\`${inner.replace(/[\\`]/g, "\\$&")}\`"`),
    () => `<(${inner})`,
    () => (writer.profile === "any" ? `$(( $(${inner}) + 1 ))` : `$(${inner})`),
    () => `x$(${inner})y`,
    () => `$(< f1)`,
    () => `$((echo n); ${inner})`,
  ])();
}

export function parameter(writer: Writer, depth: number): string {
  const { random } = writer;
  const known = random.pick(variables);
  const none = random.pick(unset);
  const inner = depth > 0 ? `$(${writer.list(depth - 1, 1)})` : "z";
  return random.pick([
    `$${known}`,
    `"$${known}"`,
    `\${${known}}`,
    `"\${${none}:-${inner}}"`,
    `\${${none}-lit}`,
    `\${${known}:+${inner}}`,
    `\${${none}:=${inner}}`,
    `\${#${known}}`,
    `\${${known}#a}`,
    `\${${known}%%${inner}}`,
    `\${${known}/a/${inner}}`,
    `"\${${known}^}"`,
    `\${${known}:1:2}`,
    `\${arr[0]}`,
    `"\${arr[@]}"`,
    `\${arr[$(${writer.name()} idx)0]}`,
    "$1",
    '"$@"',
    "$#",
    "$HOME",
    `"$PWD"`,
    "$((1+2))",
  ]);
}
