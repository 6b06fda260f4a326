import { FormatError } from "./format-error.ts";
import type { TextDocument } from "./types.ts";

/** Opens a file that has no structure, such as a script. Its only value is the whole text, at the empty path. */
export function openText(content: string): TextDocument {
  let text = content;
  const assertWhole = (path: readonly unknown[]) => {
    if (path.length > 0) throw new FormatError("the file has no keys", 1);
  };
  return {
    get text() {
      return text;
    },
    get: (path) => (path.length > 0 || text === "" ? undefined : text),
    set(path, value) {
      assertWhole(path);
      text = String(value);
    },
    append: assertWhole,
    remove(path) {
      assertWhole(path);
      text = "";
    },
    exclude: assertWhole,
    lineOf: () => 1,
  };
}
