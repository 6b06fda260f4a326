import type { PasswordFlag } from "./secret-patterns.ts";
import { isSecretName, MASK, maskKnownTokens, maskUser, passwordFlagOf } from "./secret-patterns.ts";

/** Matches a name, an option or a program. Matches do not overlap, which keeps the scan linear. */
const WORD = /[\w.-]+/g;
const SPACE = /[^\S\n]*/y;
const LINE_START = /\n[^\S\n]*(?:- )?$/;
const WORD_END = /[\s;|&<>()'"`\\]/g;
const JSON_PLAIN = /[^\s,}\]]*/y;
const QUOTE_END = /["\\]/g;
const SCHEME = /(?:Bearer|Basic|Token|Negotiate|ApiKey|Key)[^\S\n]+/iy;
const HEADER_VALUE = /[^'"\n\\]*/y;
/** Values that are not secret: empty, a boolean, or a variable reference. */
const PLAIN = /^(?:|true|false|yes|no|on|off|null|none|[01]|\$\w+|\$\{\w+\})$/i;
/** Text without any of these is not scanned further. */
const HINT = /pass|pwd|secret|token|key|cred|auth|cookie|jwt|bearer|-[upabw]|--user/i;
/**
 * Text before a bare name and value: `npm config set //host/:_authToken value`, `machine x login me password value`.
 */
const ANNOUNCED = /(?:\bset[^\S\n]+[^\s'"]{0,80}|\blogin[^\S\n]+[^\s'"]{1,80}[^\S\n]+)$/;
const SEGMENT_END = /[;|&\n]/;

interface Span {
  start: number;
  end: number;
}

/**
 * Masks values with secret names: `NAME=value`, `--option value`, `"name": "value"`, `Header: value`, `-u user:value`.
 */
function maskNamedSecrets(text: string): string {
  if (!HINT.test(text)) return text;
  const out: string[] = [];
  let copied = 0;
  let flag: { of: PasswordFlag; at: number } | null = null;
  WORD.lastIndex = 0;
  for (let match = WORD.exec(text); match; match = WORD.exec(text)) {
    const word = { start: match.index, end: match.index + match[0].length };
    const of = /\s/.test(text[word.end] ?? "") ? passwordFlagOf(match[0]) : null;
    if (of) flag = { of, at: word.end };
    else if (flag && match[0].startsWith("-")) {
      if (SEGMENT_END.test(text.slice(flag.at, word.start))) flag = null;
      else flag.at = word.start;
    }
    const value = secretAfter(text, match[0], word) ?? (flag ? flagValue(text, match[0], word, flag.of) : null);
    if (!value) continue;
    const shown = text.slice(value.start, value.end);
    const masked = match[0] === "-u" || match[0] === "--user" ? maskUser(shown) : PLAIN.test(shown) ? shown : MASK;
    out.push(text.slice(copied, value.start), masked);
    copied = value.end;
    WORD.lastIndex = Math.max(value.end, word.end);
  }
  return copied === 0 ? text : out.join("") + text.slice(copied);
}

/** Returns the range of the secret that follows this word; null when there is none. */
function secretAfter(text: string, word: string, { start, end }: Span): Span | null {
  if (word === "-u" || word === "--user") return userValue(text, end);
  const name = word.replace(/^-+/, "");
  const next = text[end];
  if (next === undefined || !isSecretName(name)) return null;
  if (next === "=") return text[end + 1] === "=" ? null : shellValueAt(text, end + 1);
  const quote = next === "\\" ? text.slice(end, end + 2) : next;
  if (quote === '"' || quote === "'" || quote === '\\"') return jsonValue(text, end + quote.length);
  if (next === ":") return colonValue(text, name, start, end + 1);
  return word.startsWith("-") || ANNOUNCED.test(text.slice(Math.max(0, start - 100), start))
    ? optionValue(text, word, end)
    : null;
}

function optionValue(text: string, word: string, end: number): Span | null {
  const at = skip(SPACE, text, end);
  // `ffmpeg -pass 1` is the first of two passes; `openssl enc -pass pass:x` is a password.
  if (at === end || text[at] === "-" || (word === "-pass" && !text.startsWith("pass:", at))) return null;
  return shellValueAt(text, at);
}

function userValue(text: string, end: number): Span | null {
  const at = skip(SPACE, text, text[end] === "=" ? end + 1 : end);
  const value = at > end ? valueAt(text, at) : null;
  const shown = value ? text.slice(value.start, value.end) : "";
  // Numeric user and group IDs, and addresses, are not credentials.
  return /^[^:/]+:[^/]/.test(shown) && !/^\d+:\d+$/.test(shown) ? value : null;
}

function flagValue(text: string, word: string, { start, end }: Span, { flag, value }: PasswordFlag): Span | null {
  if (!word.startsWith(flag)) return null;
  if (value !== "next" && (word.length > flag.length || /['"]/.test(text[end] ?? ""))) {
    return valueAt(text, start + flag.length);
  }
  return value !== "attached" && word === flag ? optionValue(text, word, end) : null;
}

/** Returns the value after a quoted name: `: "value"`, also with escaped quotes, as in JSON inside a shell string. */
function jsonValue(text: string, end: number): Span | null {
  const colon = skip(SPACE, text, end);
  if (text[colon] !== ":") return null;
  const at = skip(SPACE, text, colon + 1);
  if (text[at] === '"' || text[at] === "'" || text.startsWith('\\"', at)) return valueAt(text, at);
  return { start: at, end: skip(JSON_PLAIN, text, at) };
}

/** Returns the value in `Authorization: Bearer value` or, at the start of a line as in YAML, in `password: value`. */
function colonValue(text: string, name: string, start: number, end: number): Span | null {
  const at = skip(SPACE, text, end);
  if (name.includes("-") || /^(?:authorization|cookie)$/i.test(name)) {
    const from = skip(SCHEME, text, at);
    return { start: from, end: skip(HEADER_VALUE, text, from) };
  }
  const before = text.slice(Math.max(0, start - 40), start);
  return LINE_START.test(before) && at > end ? valueAt(text, at) : null;
}

/** Returns the value at this index, without quotes; null for a command substitution, whose words are scanned later. */
function valueAt(text: string, at: number): Span | null {
  if (text.startsWith('\\"', at)) return { start: at + 2, end: found(text, '\\"', at + 2) };
  const quoted = text.startsWith("$'", at) || text.startsWith('$"', at) ? at + 1 : at;
  if (text[quoted] === '"') return { start: quoted + 1, end: endAt(QUOTE_END, text, quoted + 1) };
  if (text[quoted] === "'") return { start: quoted + 1, end: found(text, "'", quoted + 1) };
  if (text[at] === "`" || text.startsWith("$(", at)) return null;
  return { start: at, end: endAt(WORD_END, text, at) };
}

/** Like `valueAt`, but joins adjacent parts like a shell: `'it'\''s'` is one word. */
function shellValueAt(text: string, at: number): Span | null {
  const value = valueAt(text, at);
  if (!value || value.start === at) return value;
  const quote = text[value.start - 1] as string;
  let { end } = value;
  while (text[end] === quote && (text[end + 1] === quote || /[\w\\]/.test(text[end + 1] ?? ""))) {
    end = endAt(WORD_END, text, end + 1);
    if (text[end] === quote) end = quote === "'" ? found(text, "'", end + 1) : endAt(QUOTE_END, text, end + 1);
  }
  return { start: text[end] === quote ? value.start : value.start - 1, end };
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.test(text);
  return Math.max(at, pattern.lastIndex);
}

/** Returns the index of the first match without a preceding backslash. A single pattern could exhaust the stack. */
function endAt(end: RegExp, text: string, from: number): number {
  for (end.lastIndex = from; end.test(text); end.lastIndex += 1) {
    if (text[end.lastIndex - 1] !== "\\") return end.lastIndex - 1;
  }
  return text.length;
}

/** Returns the index of `end`, or of the end of the text: masking too much is better than too little. */
function found(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from);
  return at < 0 ? text.length : at;
}

const ASSIGNMENT = /^(-*)([\w.-]+)=/;
const HEADER = /^([\w-]+):\s*((?:(?:Bearer|Basic|Token|Negotiate|Digest)\s+)?)(?=\S)/i;
const YES_NO_OR_NAME = /^(?:|true|false|yes|no|on|off|[01]|\$\w+|\$\{\w+\})$/i;
const USER_OPTION = /^(?:-u|--user|-U|--proxy-user)$/;

/** Masks everything in a text that looks like a secret. Runs in linear time. */
export function maskText(text: string): string {
  return maskNamedSecrets(maskKnownTokens(text));
}

/** Masks secrets in an argv, where the end of each value is known. */
export function maskArgs(argv: readonly string[]): string[] {
  let before = "";
  let flag: PasswordFlag | null = null;
  return argv.map((arg) => {
    const masked = maskArg(arg, before, flag);
    before = arg;
    flag = passwordFlagOf(arg) ?? flag;
    return masked;
  });
}

function maskArg(arg: string, before: string, flag: PasswordFlag | null): string {
  if (YES_NO_OR_NAME.test(arg)) return arg;
  if (!arg.startsWith("-")) {
    if (before.startsWith("-") && before !== "-pass" && isSecretName(before.replace(/^-+/, ""))) return MASK;
    if (flag && flag.value !== "attached" && before === flag.flag) return MASK;
    if (USER_OPTION.test(before) && /^[^:/]+:[^/]/.test(arg) && !/^\d+:\d+$/.test(arg)) return maskUser(arg);
  }
  if (flag && flag.value !== "next" && arg.length > flag.flag.length && arg.startsWith(flag.flag)) {
    return flag.flag + MASK;
  }
  // The text of `bash -c` may start with an assignment and continue after it.
  if (/^-\w*c$/.test(before)) return maskText(arg);
  const [assigned, , name = ""] = ASSIGNMENT.exec(arg) ?? [];
  if (assigned && isSecretName(name)) {
    return YES_NO_OR_NAME.test(arg.slice(assigned.length)) ? arg : assigned + MASK;
  }
  const [header, title = ""] = HEADER.exec(arg) ?? [];
  if (header && isHeaderName(title) && isSecretName(title)) return header + MASK;
  return maskText(arg);
}

function isHeaderName(name: string): boolean {
  return name.includes("-") || /^(?:authorization|cookie)$/i.test(name);
}

/** Masks the values of variables with secret names, and secrets in the other values. */
export function maskEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, isSecretName(name) && value !== "" ? MASK : maskText(value)]),
  );
}

/**
 * Masks secrets in a JSON value. They are recognized by their format or by the names of their keys. `prepare` is
 * applied to each text first. An array of texts is treated as an argv; `args` next to `command` as the arguments of
 * that command.
 */
export function maskData(value: unknown, prepare: (text: string) => string = (text) => text): unknown {
  if (typeof value === "string") return maskText(prepare(value));
  if (Array.isArray(value)) {
    if (value.every((each) => typeof each === "string")) return maskArgs(value.map(prepare));
    return value.map((each) => maskData(each, prepare));
  }
  if (typeof value !== "object" || value === null) return value;
  if ("toJSON" in value && typeof value.toJSON === "function") return maskData(value.toJSON(), prepare);
  const { command, args } = value as { command?: unknown; args?: unknown };
  const direct = typeof command === "string" && Array.isArray(args) && args.every((each) => typeof each === "string");
  const masked = (name: string, each: unknown) => {
    if (direct && name === "args") return maskArgs([command, ...args].map(prepare)).slice(1);
    return typeof each === "string" && each !== "" && isSecretName(name) ? MASK : maskData(each, prepare);
  };
  // Defines `__proto__` as a key, which an assignment does not.
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, masked(name, each)]));
}
