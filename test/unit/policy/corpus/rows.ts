import { existsSync, readdirSync, readFileSync } from "node:fs";

export type Expected = "deny" | "ask" | "unanalyzable" | "allow";

export interface Row {
  command: string;
  class: string;
  expected: Expected;
  /** Location of the row, as `file:line`. */
  at: string;
}

const folders = [new URL("./", import.meta.url), new URL("../cases/", import.meta.url)];

/** Returns the rows of all tables. README.md in this folder describes the columns. */
export function rows(): Row[] {
  return folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => ({ name, url: new URL(name, folder) })))
    .filter(({ name }) => name.endsWith(".tsv"))
    .flatMap(({ name, url }) =>
      readFileSync(url, "utf8")
        .trimEnd()
        .split("\n")
        .slice(1)
        .map((line, index) => row(line, `${name}:${index + 2}`)),
    );
}

function row(line: string, at: string): Row {
  const [written = "", kind = "", expected = "", note = ""] = line.split("\t");
  return {
    command: written.startsWith("json:") ? JSON.parse(written.slice("json:".length)) : written,
    class: kind,
    expected: meaning(expected, note, at),
    at,
  };
}

function meaning(expected: string, note: string, at: string): Expected {
  if (expected === "allow" || expected === "unanalyzable") return expected;
  if (expected === "block" && note.startsWith("[deny]")) return "deny";
  if (expected === "block" && note.startsWith("[ask]")) return "ask";
  throw new Error(`${at}: unknown expectation ${expected} with the note ${JSON.stringify(note)}`);
}
