import type { RunRequest } from "./request.ts";

/** The longest deadline and grace there is. */
export const MOST_MS = 2_147_483_647_000;

/** No text that reaches execve may hold a NUL: the kernel would silently cut it there (promise 2). */
export function holdsNoNul(text: string): boolean {
  return !text.includes("\0");
}

/** A copy of a field's value if it is certainly right; undefined: the schema must say. */
type Take = (value: unknown) => unknown;

const text: Take = (value) => (typeof value === "string" && value !== "" && holdsNoNul(value) ? value : undefined);

const milliseconds: Take = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_MS ? value : undefined;

const texts: Take = (value) => {
  if (!Array.isArray(value)) return undefined;
  // Copied before it is looked at: what is run must be what was found to be right.
  const copy: unknown[] = [];
  for (let index = 0; index < value.length; index++) copy.push(value[index]);
  return copy.every((each) => typeof each === "string" && holdsNoNul(each)) ? copy : undefined;
};

const FIELDS: Readonly<Record<string, Take>> = {
  command: text,
  args: texts,
  cwd: text,
  timeoutMs: milliseconds,
  graceMs: milliseconds,
};

/**
 * A copy of a request that holds nothing but what most requests hold; null: any other, also one that is wrong, which
 * is for the schema in request.ts to judge and to put into words. That one takes longer to make than to run a command.
 */
export function plainRequest(request: unknown): RunRequest | null {
  if (typeof request !== "object" || request === null || Object.getPrototypeOf(request) !== Object.prototype)
    return null;
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(request)) {
    const taken = Object.hasOwn(FIELDS, name) ? FIELDS[name]?.(value) : undefined;
    if (taken === undefined) return null;
    plain[name] = taken;
  }
  return "command" in plain ? (plain as RunRequest) : null;
}
