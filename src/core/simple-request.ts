import { LONGEST_TIMEOUT_MS } from "./clock.ts";
import type { RunRequest } from "./request.ts";

/** Returns a copy of a field's value if it is certainly valid, or undefined if the schema has to decide. */
type Validator = (value: unknown) => unknown;

const isText = (value: unknown) => typeof value === "string" && !value.includes("\0");

export const text: Validator = (value) => (isText(value) && value !== "" ? value : undefined);

const texts: Validator = (value) => {
  if (!Array.isArray(value)) return undefined;
  // Copied before it is checked: the arguments that run must be those that were checked.
  const copy = Array.from<unknown>(value);
  return copy.every(isText) ? copy : undefined;
};

const milliseconds: Validator = (value) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LONGEST_TIMEOUT_MS ? value : undefined;

const SIMPLE_FIELDS: Readonly<Record<string, Validator>> = {
  command: text,
  args: texts,
  cwd: text,
  timeoutMs: milliseconds,
  graceMs: milliseconds,
};

/**
 * Accepts the requests of most callers without the schema, because loading zod takes longer than running a command.
 * Returns null for any other request, valid or not.
 */
export function simpleRequest(request: unknown): RunRequest | null {
  if (typeof request !== "object" || request === null || Object.getPrototypeOf(request) !== Object.prototype)
    return null;
  const simple: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(request)) {
    const taken = Object.hasOwn(SIMPLE_FIELDS, name) ? SIMPLE_FIELDS[name]?.(value) : undefined;
    if (taken === undefined) return null;
    simple[name] = taken;
  }
  return "command" in simple ? (simple as RunRequest) : null;
}
