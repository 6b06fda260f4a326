import { quoted } from "./quote.ts";
import type { Writer } from "./text.ts";
import { word } from "./words.ts";

const files = ["f1", "f2"];

export function redirect(writer: Writer, depth: number): string {
  const { random } = writer;
  const file = random.pick(files);
  if (random.oneIn(3)) return hereDocument(writer, depth);
  return random.pick([
    () => `> ${file}`,
    () => `>>${quoted(random, file)}`,
    () => `2>&1`,
    () => `2> ${file}`,
    () => `< /dev/null`,
    () => `&> ${file}`,
    () => `>| ${file}`,
    () => `3> ${file}`,
    () => `{fd}> ${file}`,
    () => `<<< ${word(writer, depth)}`,
    () => `> "${file}${writer.unknown(depth)}"`,
    () => `< <(${writer.list(depth - 1, 1)})`,
    () => `> >(${writer.list(depth - 1, 1)})`,
  ])();
}

export function hereDocument(writer: Writer, depth: number): string {
  const { random } = writer;
  const mark = random.pick(["E", "EOF", "end-1"]);
  const dash = random.oneIn(3);
  const opening = random.pick([
    mark,
    mark,
    mark,
    `'${mark}'`,
    `"${mark}"`,
    `\\${mark}`,
    `${mark.slice(0, 1)}''${mark.slice(1)}`,
  ]);
  const lines: string[] = [];
  for (let count = random.int(3); count > 0; count--) {
    const inner = depth > 0 ? writer.list(depth - 1, 1) : writer.name();
    lines.push(
      random.pick([
        "plain text; alpha",
        `a $(${inner}) b`,
        `\\$(${writer.name()})`,
        `\${none:-$(${writer.name()} d)}`,
        `${mark} x`,
        ` ${mark}`,
        "it's \"quoted",
        `'$(${writer.name()} q)'`,
        `\`${writer.name()} back\``,
        "tail \\",
        "$v $((1+1))",
      ]),
    );
  }
  const tab = dash ? random.pick(["", "\t"]) : "";
  writer.bodies.push(`${lines.map((line) => `${tab}${line}\n`).join("")}${tab}${mark}\n`);
  return `${random.pick(["", "", "3"])}<<${dash ? "-" : ""}${random.pick(["", " "])}${opening}`;
}
