/** One setting of a git configuration file. */
export interface GitSetting {
  /** The full key, such as `core.hookspath` or `filter.NAME.clean`. Only the name between the dots keeps its case. */
  key: string;
  /** Null for a key without a value, which means true. */
  value: string | null;
}

/** A section header `[name "sub"]` or `[name.sub]`. Git also accepts a setting on the same line. */
const SECTION = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]/;
const SETTING = /^\s*([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)/;

/**
 * Parses a git configuration file. Lines that git would reject are skipped: git then fails without running anything,
 * and the other settings are reported as long as the file is repaired.
 */
export function parseGitConfig(text: string): GitSetting[] {
  const settings: GitSetting[] = [];
  let section = "";
  let rest = text.replace(/^\uFEFF/, "");
  while (rest !== "") {
    const header = SECTION.exec(rest);
    if (header) {
      section = sectionName(header[1] ?? "", header[2]);
      rest = rest.slice(header[0].length);
      continue;
    }
    const setting = SETTING.exec(rest);
    if (setting && section !== "") {
      const { value, length } =
        setting[2] === "" ? noValue(rest, setting[0].length) : readValue(rest, setting[0].length);
      settings.push({ key: `${section}.${(setting[1] ?? "").toLowerCase()}`, value });
      rest = rest.slice(length);
      continue;
    }
    const end = rest.indexOf("\n");
    rest = end < 0 ? "" : rest.slice(end + 1);
  }
  return settings;
}

function sectionName(name: string, quoted: string | undefined): string {
  const dot = name.indexOf(".");
  if (quoted !== undefined) return `${name.toLowerCase()}.${quoted.replace(/\\(.)/g, "$1")}`;
  return dot < 0 ? name.toLowerCase() : `${name.slice(0, dot).toLowerCase()}.${name.slice(dot + 1).toLowerCase()}`;
}

function noValue(text: string, from: number): { value: null; length: number } {
  const end = text.indexOf("\n", from);
  return { value: null, length: end < 0 ? text.length : end + 1 };
}

const ESCAPED: Record<string, string> = { n: "\n", t: "\t", b: "\b" };

/** Reads a value up to the end of its line, with quotes, escapes, comments and continued lines. */
function readValue(text: string, from: number): { value: string; length: number } {
  let value = "";
  /** The length of the value without trailing spaces. */
  let kept = 0;
  let quoted = false;
  let at = from;
  for (; at < text.length && text[at] !== "\n"; at++) {
    const c = text[at] ?? "";
    if (c === "\\") {
      const next = text[++at] ?? "";
      if (next === "\n" || (next === "\r" && text[at + 1] === "\n")) {
        if (next === "\r") at++;
        continue;
      }
      value += ESCAPED[next] ?? next;
      kept = value.length;
    } else if (c === '"') quoted = !quoted;
    else if (!quoted && (c === "#" || c === ";")) {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end;
      break;
    } else {
      const space = !quoted && /\s/.test(c);
      if (!(space && value === "")) value += c;
      if (!space) kept = value.length;
    }
  }
  return { value: value.slice(0, kept), length: Math.min(text.length, at + 1) };
}
