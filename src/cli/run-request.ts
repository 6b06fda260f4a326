import { resolve } from "node:path";
import type { RunRequest } from "../core/request.ts";
import type { Invocation } from "./command.ts";
import {
  amountOption,
  choiceOption,
  countOption,
  durationOption,
  sizeOption,
  terminalSizeOption,
  textOption,
  textOptions,
} from "./options.ts";
import { sandboxRequest } from "./sandbox-options.ts";
import { ownTerminal } from "./terminal/tty.ts";
import { UsageError } from "./usage-error.ts";

/** What `run`'s command line asks the gateway for. No deadline unless one was given: the person at the keyboard is it. */
export function runRequest({ values, rest, io }: Invocation): RunRequest {
  const cwd = textOption(values, "cwd");
  const logFile = textOption(values, "log-file");
  const variables = textOptions(values, "env");
  return {
    ...commandOf(textOption(values, "command"), rest ?? []),
    ...sandboxRequest({ values }),
    timeoutMs: durationOption(values, "timeout") ?? 0,
    ...defined({
      graceMs: durationOption(values, "grace"),
      diskCap: sizeOption(values, "disk-cap"),
      limits: limitsOf(values),
      name: textOption(values, "name"),
      cwd: cwd && resolve(cwd),
      logFile: logFile && resolve(logFile),
      env: variables.length > 0 ? Object.fromEntries(variables.map(variable)) : undefined,
      capture: values.merge ? ("merged" as const) : undefined,
      stdin: values.interactive ? ("open" as const) : undefined,
      pty: values.tty ? true : undefined,
      host: textOption(values, "host"),
      labels: labelsOf(textOptions(values, "label")),
      retry: choiceOption(values, "retry", ["idempotent"] as const),
      size: values.tty ? (terminalSizeOption(values, "size") ?? ownTerminal(io)?.size()) : undefined,
    }),
  };
}

function labelsOf(given: string[]): RunRequest["labels"] {
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map((text) => {
      const [, key, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
      if (!key || !value) throw new UsageError(`\`--label\` must be KEY=VALUE; received \`${text}\``);
      return [key, value];
    }),
  );
}

function limitsOf(values: Invocation["values"]): RunRequest["limits"] {
  const limits = defined({
    memoryBytes: sizeOption(values, "memory"),
    cpu: amountOption(values, "cpu"),
    processes: countOption(values, "processes"),
  });
  return Object.keys(limits).length > 0 ? limits : undefined;
}

function commandOf(text: string | undefined, argv: string[]): Pick<RunRequest, "command" | "args"> {
  const [program, ...args] = argv;
  if (text !== undefined && program !== undefined) {
    throw new UsageError(`\`-c\` takes the whole command as one text; \`${program}\` came after it. Quote the text`);
  }
  if (text?.trim() === "") throw new UsageError("`-c` must be followed by a command; received an empty text");
  if (text !== undefined) return { command: text };
  if (program === undefined) throw new UsageError("what to run? Give `-- PROGRAM ARG…` or `-c TEXT`");
  return { command: program, args };
}

/** `K=V`, or `K` alone for the value it has here, as `docker run -e` and `env` have it. */
function variable(text: string): [string, string] {
  const at = text.indexOf("=");
  const name = at < 0 ? text : text.slice(0, at);
  if (name === "") throw new UsageError(`\`--env\` must be NAME=VALUE; received \`${text}\``);
  const value = at < 0 ? process.env[name] : text.slice(at + 1);
  if (value === undefined) throw new UsageError(`\`--env ${text}\`: no variable of that name is set here`);
  return [name, value];
}

function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
