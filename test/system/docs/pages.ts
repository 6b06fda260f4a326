import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

export interface Page {
  /** From the root of the repository. */
  path: string;
  text: string;
}

export interface Sample {
  page: string;
  line: number;
  language: string;
  /** What stands behind the language. */
  note: string;
  text: string;
}

/** Everything that a reader is led to from README.md. */
export function pages(): Page[] {
  const docs = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
  const paths = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", ...docs.map((name) => `docs/${name}`)];
  return paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}

/** The fenced blocks of a page. */
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
