import { styleText } from "node:util";
import type { Finding, Machine } from "../../doctor/finding.ts";
import { applyFixes } from "../../doctor/fix.ts";
import { runChecks } from "../../doctor/run-checks.ts";
import { wrap } from "../../text/width.ts";
import type { Command, Io } from "../command.ts";
import { printJson } from "../io.ts";
import { stateFolder } from "../open.ts";

const MARGIN = 21;
const COLOR = { ok: "green", warn: "yellow", fail: "red" } as const;

export const doctor: Command = {
  name: "doctor",
  summary: "Check that this machine can do what Sallyport promises",
  usage: "sallyport doctor [OPTIONS]",
  options: { fix: { type: "boolean" } },
  help: {
    fix: "do what can be done about it here: build the keeper, close the state folder to others",
    json: "print {ok, findings: [{name, status, message, fix}]}",
  },
  examples: [
    "sallyport doctor",
    "sallyport doctor --fix",
    "sallyport doctor --json | jq '.findings[] | select(.status != \"ok\")'",
  ],
  notes: "The exit code is 1 when something does not work at all, else 0.",
  run: async ({ values, io }) => {
    const state = stateFolder(values);
    const { ok: healthy, findings } = values.fix ? await checkAndFix({ state }, io) : await runChecks({ state });
    if (values.json) printJson({ ok: healthy, findings }, io);
    else io.out(findings.map((finding) => line(finding, io)).join(""));
    return healthy ? 0 : 1;
  },
};

/** Looks again when something was done. */
async function checkAndFix(machine: Machine, io: Io): ReturnType<typeof runChecks> {
  const found = await runChecks(machine);
  const mended = applyFixes(found.findings, machine);
  const now = mended.length > 0 ? await runChecks(machine) : found;
  for (const { name, failure } of mended) {
    const isWell = now.findings.some((finding) => finding.name === name && finding.status === "ok");
    io.err(isWell ? `Fixed: ${name}\n` : `Could not fix: ${name}${failure === null ? "" : `: ${failure}`}\n`);
  }
  return now;
}

function line({ name, status, message, fix }: Finding, io: Io): string {
  if (!io.isTTY.stdout) return `${[status, name, message, fix ?? ""].join("\t")}\n`;
  const word = status.padEnd(6);
  const shown = io.color ? styleText(COLOR[status], word, { validateStream: false }) : word;
  const lines = [message, ...(fix ? [fix] : [])].flatMap((text) => wrap(text, Math.max(20, io.columns - MARGIN)));
  return `${shown}${name.padEnd(15)}${lines.join(`\n${" ".repeat(MARGIN)}`)}\n`;
}
