import { openJson } from "./json.ts";
import { openText } from "./text.ts";
import { openToml } from "./toml.ts";
import type { Format, TextDocument } from "./types.ts";
import { openYaml } from "./yaml.ts";

export type { Format, Json, Path, TextDocument } from "./types.ts";

/** Opens a text for editing. Throws a `FormatError` when it is not valid, or uses syntax that cannot be edited. */
export function openDocument(format: Format, text: string): TextDocument {
  const open = { json: openJson, toml: openToml, yaml: openYaml, text: openText }[format];
  return open(text);
}
