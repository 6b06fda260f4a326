import { resolve } from "node:path";
import type { RunRequest } from "../core/request.ts";
import type { Command, Invocation } from "./command.ts";
import { choiceOption, textOption, textOptions } from "./options.ts";
import { UsageError } from "./usage-error.ts";

/** What `run` and `check` take about the sandbox. */
export const SANDBOX_OPTIONS = {
  sandbox: { type: "string" },
  network: { type: "string" },
  writable: { type: "string", multiple: true },
} as const satisfies Command["options"];

export const SANDBOX_HELP = {
  sandbox: "PROFILE: read-only, workspace-write, isolated or off [as configured]",
  network: "on, off, or the TCP ports it may use: 80,443 [as configured]",
  writable: "DIR: it may write there as well; repeatable",
};

type Asked = Pick<RunRequest, "sandbox" | "network" | "writable">;

export function sandboxRequest({ values }: Pick<Invocation, "values">): Asked {
  const sandbox = choiceOption(values, "sandbox", ["off", "read-only", "workspace-write", "isolated"]);
  const network = networkOf(textOption(values, "network"));
  const writable = textOptions(values, "writable").map((path) => resolve(path));
  return {
    ...(sandbox ? { sandbox } : {}),
    ...(network ? { network } : {}),
    ...(writable.length > 0 ? { writable } : {}),
  };
}

function networkOf(text: string | undefined): Asked["network"] {
  if (text === undefined || text === "on" || text === "off") return text;
  const ports = text.split(",").map((port) => (/^\d{1,5}$/.test(port) ? Number(port) : 0));
  if (ports.every((port) => port >= 1 && port <= 65_535)) return { ports };
  throw new UsageError(`\`--network\` must be on, off or TCP ports such as 80,443; received \`${text}\``);
}
