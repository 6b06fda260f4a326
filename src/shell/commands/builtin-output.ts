/** Determines the output of `echo` and `printf`, which may be piped into a shell. */

import type { Field } from "../expand/field.ts";
import type { StreamContent } from "../walk/state.ts";

/** A command with its name and all of its arguments. */
interface Printed {
  name: string;
  argv: readonly Field[];
}

/** Returns output that is not known. It comes from another machine if an argument does. */
function unknownOutput({ name, argv }: Printed): StreamContent {
  const remote = argv.some(({ uncertain }) => uncertain?.remote);
  return { kind: "unknown", why: `the output of \`${name}\``, remote };
}

export function echoOutput(call: Printed): StreamContent {
  const words = call.argv.slice(1);
  let newline = "\n";
  let escapes = false;
  while (words[0]?.value && /^-[neE]+$/.test(words[0].value)) {
    const flags = words.shift()?.value ?? "";
    if (flags.includes("n")) newline = "";
    if (flags.includes("e")) escapes = true;
  }
  const [only] = words;
  if (words.length === 1 && only?.value === null && only.content) return only.content;
  if (words.some((word) => word.value === null || word.glob)) return unknownOutput(call);
  const text = words.map((word) => word.value).join(" ");
  const decoded = escapes ? decode(text) : text;
  return decoded === null ? unknownOutput(call) : textContent(decoded + newline, words);
}

export function printfOutput(call: Printed): StreamContent {
  const words = call.argv.slice(1).filter((word, index) => !(index === 0 && word.value === "--"));
  const [format, ...args] = words;
  if (format?.value == null || args.some((word) => word.value === null || word.glob)) return unknownOutput(call);
  const decoded = decode(format.value);
  if (decoded === null || /%(?![s%b])/.test(decoded)) return unknownOutput(call);
  const pending = args.map((word) => word.value as string);
  let text = "";
  do {
    text += decoded.replace(/%[sb%]/g, (verb) => {
      if (verb === "%%") return "%";
      const next = pending.shift() ?? "";
      return verb === "%b" ? (decode(next) ?? "\0") : next;
    });
  } while (pending.length > 0 && /%[sb]/.test(decoded) && text.length < 4096);
  return text.includes("\0") && /%b/.test(decoded) ? unknownOutput(call) : textContent(text, words);
}

function textContent(text: string, words: Field[]): StreamContent {
  const uncertain = words.find((word) => word.uncertain)?.uncertain ?? null;
  const input = uncertain?.input === true;
  return { kind: "text", text, field: words.length === 1 ? (words[0] ?? null) : null, uncertain, input };
}

function decode(text: string): string | null {
  if (!text.includes("\\")) return text;
  const plain: Record<string, string> = { n: "\n", t: "\t", "\\": "\\", "0": "\0", r: "\r", '"': '"', "'": "'" };
  let known = true;
  const result = text.replace(/\\(x[0-9a-fA-F]{1,2}|0?[0-7]{1,3}|.)/gs, (_, code: string) => {
    if (code[0] === "x") return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    if (/^[0-7]{2,}$/.test(code)) return String.fromCharCode(Number.parseInt(code, 8));
    const value = plain[code];
    if (value === undefined) known = false;
    return value ?? "";
  });
  return known ? result : null;
}
