import { styleText } from "node:util";
import type { Finding, Machine } from "../../doctor/finding.ts";
import { applyFixes, type FixResult } from "../../doctor/fix.ts";
import { runChecks } from "../../doctor/run-checks.ts";
import { wrap } from "../../text/width.ts";
import type { Command, Io } from "../command.ts";
import { printJson } from "../io.ts";
import { stateFolder } from "../open.ts";

const MARGIN = 21;
const COLOR = { ok: "green", warn: "yellow", fail: "red" } as const;

export const doctor: Command = {
  name: "doctor",
  summary: "Check this machine and suggest fixes",
  usage: "sallyport doctor [OPTIONS]",
  description: `
    Checks the kernel, the keeper, the state folder, the sandbox, resource limits and the configuration of agent hosts, and
    runs one test command. Prints
    a fix for each problem. The exit code is 1 if a check fails, and 0 if there are only warnings. A check fails if
    nothing on this machine confines commands.`,
  options: { fix: { type: "boolean" } },
  help: {
    fix: "Apply fixes: build the keeper, restrict access to the state folder, install the AppArmor profile of the keeper (as root; otherwise print the command)",
    json: "Print {ok, findings: [{name, status, message, fix}]}",
  },
  examples: [
    ["Check this machine", "sallyport doctor"],
    ["Apply fixes", "sallyport doctor --fix"],
    ["Print only problems", "sallyport doctor --json | jq '.findings[] | select(.status != \"ok\")'"],
  ],
  run: async ({ values, io }) => {
    const state = stateFolder(values);
    const { ok: healthy, findings } = values.fix ? await checkAndFix({ state }, io) : await runChecks({ state });
    if (values.json) printJson({ ok: healthy, findings }, io);
    else io.out(findings.map((finding) => line(finding, io)).join(""));
    return healthy ? 0 : 1;
  },
};

/** Applies fixes and, if there were any, runs the checks again. */
async function checkAndFix(machine: Machine, io: Io): ReturnType<typeof runChecks> {
  const found = await runChecks(machine);
  const fixes = applyFixes(found.findings, machine);
  const now = fixes.some(({ done }) => done !== null) ? await runChecks(machine) : found;
  for (const fix of fixes) io.err(fixText(fix, now.findings));
  return now;
}

function fixText({ name, done, failure, manual }: FixResult, now: readonly Finding[]): string {
  if (manual !== null) return `To fix ${name}, run this command:\n\n${manual}\n\n`;
  if (failure !== null) return `Could not fix: ${name}: ${failure}\n`;
  const isFixed = now.some((finding) => finding.name === name && finding.status === "ok");
  return isFixed ? `Fixed: ${name}: ${done}\n` : `Could not fix: ${name}: ${done}, but the check still reports it\n`;
}

function line({ name, status, message, fix }: Finding, io: Io): string {
  if (!io.isTTY.stdout) return `${[status, name, message, fix ?? ""].join("\t")}\n`;
  const word = status.padEnd(6);
  const shown = io.color ? styleText(COLOR[status], word, { validateStream: false }) : word;
  const lines = [message, ...(fix ? [fix] : [])].flatMap((text) => wrap(text, Math.max(20, io.columns - MARGIN)));
  return `${shown}${name.padEnd(15)}${lines.join(`\n${" ".repeat(MARGIN)}`)}\n`;
}
