/** What a terminal in raw mode sends, key by key. */
export type Key =
  | { kind: "text"; text: string }
  | { kind: "up" | "down" | "page-down" | "page-up" | "enter" | "escape" | "erase" | "interrupt" };

const SEQUENCES: [string, Exclude<Key["kind"], "text">][] = [
  ["\x1b[A", "up"],
  ["\x1bOA", "up"],
  ["\x1b[B", "down"],
  ["\x1bOB", "down"],
  ["\x1b[5~", "page-up"],
  ["\x1b[6~", "page-down"],
  ["\r", "enter"],
  ["\n", "enter"],
  ["\x7f", "erase"],
  ["\b", "erase"],
  ["\x03", "interrupt"],
  ["\x04", "interrupt"],
];

/** One read may hold several keys: what is typed ahead is not lost. Unknown sequences are dropped, never taken as text. */
export function* keysIn(data: string): Generator<Key> {
  for (let at = 0; at < data.length; ) {
    const rest = data.slice(at);
    const known = SEQUENCES.find(([sequence]) => rest.startsWith(sequence));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what keys send
    const unknown = /^\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.)/.exec(rest)?.[0];
    const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
    if (known) yield { kind: known[1] };
    else if (character === "\x1b" && !unknown) yield { kind: "escape" };
    else if (!unknown && character >= " ") yield { kind: "text", text: character };
    at += known?.[0].length ?? unknown?.length ?? character.length;
  }
}
