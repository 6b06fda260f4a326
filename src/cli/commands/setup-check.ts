/** Prints the result of `sallyport setup --check`. */
import { styleText } from "node:util";
import type { HostCheck } from "../../setup/check.ts";
import type { Host } from "../../setup/hosts/host.ts";
import { visible } from "../../text/visible.ts";
import { wrap } from "../../text/width.ts";
import type { Io } from "../command.ts";

const COLOR = { connected: "green", broken: "red", "not set up": "yellow" } as const;
const MARGIN = 13;

export function printChecks(checks: readonly HostCheck[], asked: Host | null, io: Io): void {
  if (checks.length === 0) {
    const what = asked ? `${asked.title} is not installed` : "No agent host is installed";
    io.err(`${what}: neither its program is on PATH nor a file of its configuration exists.\n`);
    return;
  }
  for (const check of checks) io.out(io.isTTY.stdout ? paragraph(check, io) : line(check));
}

function details({ host, status, connections, problems, waysAround }: HostCheck): string[] {
  const connected = connections.map(({ mode, scope, file, line, status, tools, message }) => {
    const place = `${file}:${line} (${scope})`;
    if (status === "connected" && mode !== "mcp") return `${place}: ${mode}`;
    return tools ? `${place}: tools ${tools.join(", ") || "none"}` : `${place}: ${status}: ${message}`;
  });
  const around = waysAround.map((way) => `way around: ${way}`);
  const none = status === "connected" && around.length === 0 ? ["no way around is known"] : [];
  const next = status === "not set up" ? [`run \`sallyport setup ${host}\``] : [];
  return [...problems, ...connected, ...around, ...none, ...next].map(visible);
}

/** One line for other programs: the host, its status and the details, separated by tabs. */
function line(check: HostCheck): string {
  return `${[check.host, check.status, ...details(check)].join("\t")}\n`;
}

function paragraph(check: HostCheck, io: Io): string {
  const status = io.color ? styleText(COLOR[check.status], check.status, { validateStream: false }) : check.status;
  const indent = " ".repeat(MARGIN);
  const lines = details(check).flatMap((text) => wrap(text, Math.max(20, io.columns - MARGIN)));
  return `${check.host.padEnd(MARGIN)}${status}\n${lines.map((text) => `${indent}${text}\n`).join("")}`;
}
