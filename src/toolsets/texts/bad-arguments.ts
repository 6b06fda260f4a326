import { inspect } from "node:util";
import type * as z from "zod";
import type { Recovery } from "../../core/error.ts";
import { nearest } from "../../text/nearest.ts";

interface Failure {
  type: string;
  message: string;
  recovery: readonly Recovery[];
}

interface ToolShape {
  name: string;
  input: z.ZodObject;
  faults?: Record<string, (message: string) => Failure>;
}

interface Issue {
  path: PropertyKey[];
  message: string;
  /** The unknown ones, where that is what is wrong. */
  keys?: string[];
  /** What is wrong with the key itself, where a record's key is. */
  issues?: { message: string }[];
}

/** More than that is a misunderstanding, which the list of parameters clears up better. */
const MOST_TOLD = 3;
const SHOWN = 100;

/** The schemas' own messages, so that they go on from the parameter's name. */
const WORDINGS: readonly (readonly [RegExp, string])[] = [
  [/^Invalid input: expected (\w+), received .*$/s, "must be of type $1"],
  [/^Invalid option: expected one of (.*)$/s, "must be one of $1"],
  [/^Too big: expected \w+ to (be|have) <=?(\S+)/, "must $1 at most $2"],
  [/^Too small: expected \w+ to (be|have) >=(\S+)/, "must $1 at least $2"],
  [/^Too small: expected \w+ to be >(\S+)/, "must be more than $1"],
];

/** What was expected of the arguments, what was received, and what the tool takes. */
export function badArguments({ name, input, faults = {} }: ToolShape, issues: Issue[], args: unknown): Failure {
  const messages = issues.slice(0, MOST_TOLD).map((issue) => told(issue, input, args));
  const own = faults[String(issues[0]?.path[0] ?? "")];
  if (own && messages[0] !== undefined) return own(messages[0]);
  return {
    type: "InvalidRequest",
    message: messages.join(" "),
    recovery: [{ action: "fix_request", hint: `${name} takes ${parameters(input)}.` }],
  };
}

function told({ path, message, keys, issues }: Issue, input: z.ZodObject, args: unknown): string {
  const [unknown] = keys ?? [];
  if (unknown !== undefined && path.length === 0) {
    const near = nearest(unknown.slice(0, SHOWN), Object.keys(input.shape));
    return `\`${shown(unknown)}\` is not a parameter${near ? `; did you mean \`${near}\`?` : "."}`;
  }
  let value: unknown = args;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  const where = path.length > 0 ? `\`${shown(path.map(String).join("."))}\`` : "The arguments";
  const wanted = WORDINGS.reduce(
    (text, [pattern, words]) => text.replace(pattern, words),
    issues?.[0]?.message ?? message,
  );
  if (value === undefined && path.length > 0)
    return `${where} is required: it ${wanted.replace(/^Invalid/, "is invalid")}.`;
  return `${where} ${wanted}; received ${shown(inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY }))}.`;
}

/** `command (required), timeout, cwd`. */
function parameters(input: z.ZodObject): string {
  const names = Object.entries(input.shape).map(([name, type]) =>
    (type as z.ZodType).safeParse(undefined).success ? name : `${name} (required)`,
  );
  return names.join(", ") || "no parameters";
}

/** A caller's own words, control characters made visible. */
function shown(text: string): string {
  return JSON.stringify(text).slice(1, -1).slice(0, SHOWN);
}
