import type { SoakReport } from "./soak.ts";

const MOST_SHOWN = 50;

function counts(what: Record<string, number>): string {
  return Object.entries(what)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}

/** What was done, what came of it, and what was wrong. */
export function printReport(report: SoakReport): string {
  const { seconds, seed, gateways, faults, sessions, statuses, refusals, auditEntries, fullDisk, findings } = report;
  const lines = [
    `${seconds} s, seed ${seed}, ${gateways} gateways at a time on one state folder`,
    `killed (SIGKILL)   ${faults.gateways} gateways, ${faults.zygotes} zygotes, ${faults.keepers} keepers with a command`,
    `sessions           ${sessions}: ${counts(statuses)}`,
    `refused            ${counts(refusals) || "nothing"}`,
    `audit              ${auditEntries} entries in one chain`,
    `full disk          ${fullDisk ? "filled and emptied under a gateway" : "left out: mounting a small one takes root"}`,
    "clock              that of some gateways jumped by up to an hour; the machine's was left alone",
    "descriptors        some gateways had 64",
    "processes          some commands tried to have more than they may",
    "",
    findings.length === 0 ? "nothing wrong" : `${findings.length} findings:`,
    ...findings.slice(0, MOST_SHOWN).map((finding) => `- ${finding}`),
    ...(findings.length > MOST_SHOWN ? [`… and ${findings.length - MOST_SHOWN} more`] : []),
  ];
  return `${lines.join("\n")}\n`;
}
