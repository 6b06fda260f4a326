/** `check --ndjson`: a stream of commands in, a stream of verdicts out, line for line. */
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { SallyportError } from "../core/error.ts";
import { type CheckOptions, check } from "../gateway/check.ts";
import { splitWords } from "../shell/split.ts";
import type { Io } from "./command.ts";

export async function checkLines(io: Io, options: CheckOptions): Promise<void> {
  for await (const line of createInterface({ input: io.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === "") continue;
    io.out(`${JSON.stringify(answer(line, options))}\n`);
    await io.drained();
  }
}

/** A bad line is answered like any other, so that answers stay in step with questions. */
function answer(line: string, options: CheckOptions): unknown {
  try {
    const { command, ...own } = request(line, options);
    return check(command, { ...options, ...own });
  } catch (error) {
    const known = error instanceof SallyportError ? error : invalid(String(error));
    return { error: known.toJSON() };
  }
}

function request(line: string, options: CheckOptions): { command: string | string[]; cwd?: string; agent?: string } {
  const value = parsed(line);
  if (typeof value === "string") return { command: value };
  if (typeof value !== "object" || value === null) throw invalid("a line must be a JSON string or object");
  const { command, shell, cwd, agent } = value as Record<string, unknown>;
  if (typeof command !== "string" && !(Array.isArray(command) && command.every((word) => typeof word === "string"))) {
    throw invalid("`command` must be a string or a list of strings");
  }
  if (shell !== undefined && typeof shell !== "boolean") throw invalid("`shell` must be true or false");
  if (cwd !== undefined && typeof cwd !== "string") throw invalid("`cwd` must be a string");
  if (agent !== undefined && typeof agent !== "string") throw invalid("`agent` must be a string");
  return {
    // Without a shell the text is split into words as shlex does, and nothing in them is expanded.
    command: typeof command === "string" && shell === false ? words(command) : (command as string | string[]),
    ...(cwd === undefined ? {} : { cwd: resolve(options.cwd ?? ".", cwd) }),
    ...(agent === undefined ? {} : { agent }),
  };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw invalid(`the line is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function words(text: string): string[] {
  const split = splitWords(text);
  if (!split) throw invalid("a quote in `command` is not closed");
  return split;
}

function invalid(message: string): SallyportError {
  return new SallyportError("InvalidRequest", message, [
    {
      action: "fix_line",
      hint: 'Send one JSON string, or {"command": "…", "shell": true, "cwd": "…", "agent": "…"}, per line.',
    },
  ]);
}
