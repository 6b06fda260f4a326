import type { SoakReport } from "./soak.ts";

const MOST_SHOWN = 50;

function counts(what: Record<string, number>): string {
  return Object.entries(what)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}

/** Formats the load, the injected faults and the findings as text. */
export function printReport(report: SoakReport): string {
  const { seconds, seed, gateways, faults, sessions, statuses, refusals, auditEntries, fullDisk, findings } = report;
  const lines = [
    `${seconds} s, seed ${seed}, ${gateways} concurrent gateways on one state folder`,
    `killed (SIGKILL)   ${faults.gateways} gateways, ${faults.zygotes} zygotes, ${faults.keepers} keepers with a command`,
    `sessions           ${sessions}: ${counts(statuses)}`,
    `rejected           ${counts(refusals) || "none"}`,
    `audit              ${auditEntries} entries in one chain`,
    `full disk          ${fullDisk ? "filled and emptied while a gateway ran" : "skipped: mounting a small disk requires root"}`,
    "clock              jumped by up to an hour in some gateways; the system clock did not change",
    "descriptors        limited to 64 in some gateways",
    "processes          some commands exceeded their process limit",
    "",
    findings.length === 0 ? "no findings" : `${findings.length} findings:`,
    ...findings.slice(0, MOST_SHOWN).map((finding) => `- ${finding}`),
    ...(findings.length > MOST_SHOWN ? [`… and ${findings.length - MOST_SHOWN} more`] : []),
  ];
  return `${lines.join("\n")}\n`;
}
