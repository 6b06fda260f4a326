import { type PasswordFlag, passwordFlagOf } from "./secret-flags.ts";
import { isSecretName, MASK } from "./secret-names.ts";
import { maskShapes, maskUser } from "./secret-patterns.ts";
import { maskWords } from "./secret-words.ts";
import { setOwn } from "./set-own.ts";

export { isSecretName, MASK } from "./secret-names.ts";

const ASSIGNMENT = /^(-*)([\w.-]+)=/;
const HEADER = /^([\w-]+):\s*((?:(?:Bearer|Basic|Token|Negotiate|Digest)\s+)?)(?=\S)/i;
const YES_NO_OR_NAME = /^(?:|true|false|yes|no|on|off|[01]|\$\w+|\$\{\w+\})$/i;
const USER_OPTION = /^(?:-u|--user|-U|--proxy-user)$/;

/** Shell text, or any other, with what looks like a secret replaced. Takes time in proportion to the text. */
export function maskText(text: string): string {
  return maskWords(maskShapes(text));
}

/** An argv with secrets replaced; here a value's end is known, whatever characters it holds. */
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
  // The text of `bash -c` starts with an assignment, too, but does not end with it.
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

/** An environment with the values of secret-looking variables replaced, and secrets within the others. */
export function maskEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, isSecretName(name) && value !== "" ? MASK : maskText(value)]),
  );
}

/**
 * Anything JSON can hold with secrets replaced: by what a text looks like and by the name it stands under. `prepare` is
 * applied to each text first. An array of texts is taken as an argv, after `command` where it stands beside one.
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
  const result: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(value)) setOwn(result, name, masked(name, each));
  return result;
}
