import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

export interface Page {
  /** Relative to the root of the repository. */
  path: string;
  text: string;
}

export interface Sample {
  page: string;
  line: number;
  language: string;
  /** The text after the language on the opening fence. */
  note: string;
  text: string;
}

/** Returns the pages at the root of the repository and all pages below docs/. */
export function pages(): Page[] {
  const docs = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" });
  const below = docs.filter((name) => name.endsWith(".md")).sort();
  const paths = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", ...below.map((name) => `docs/${name}`)];
  return paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}

/** Returns the fenced blocks of a page. */
export function samples({ path, text }: Page): Sample[] {
  return [...text.matchAll(/^```(\w*) ?(.*)\n([\s\S]*?)^```$/gm)].map(
    ({ index, 1: language = "", 2: note = "", 3: body = "" }) => ({
      page: path,
      line: text.slice(0, index).split("\n").length,
      language,
      note,
      text: body,
    }),
  );
}
