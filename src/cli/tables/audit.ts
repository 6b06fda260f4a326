import { styleText } from "node:util";
import type { ChainReport } from "../../storage/audit-chain.ts";
import type { AuditEntry } from "../../storage/audit-entry.ts";
import type { Column } from "../../text/table.ts";
import { visible } from "../../text/visible.ts";

const OUTCOME_COLOR: Record<string, "red" | "yellow" | "green"> = {
  blocked: "red",
  denied: "red",
  deny: "red",
  failed: "red",
  lost: "red",
  asked: "yellow",
  ask: "yellow",
  expired: "yellow",
  timed_out: "yellow",
  killed: "yellow",
  approved: "green",
};

/** For a person. Columns keep their width from one batch to the next, so that a followed log stays in line. */
export function auditColumns(color: boolean): Column<AuditEntry>[] {
  return [
    { title: "SEQ", value: ({ seq }) => String(seq).padStart(6), align: "right" },
    {
      title: "TIME",
      value: ({ at }) =>
        visible(
          at
            .slice(5)
            .replace("T", " ")
            .replace(/\.\d+Z$/, "Z"),
        ),
    },
    { title: "KIND", value: ({ kind }) => visible(kind).padEnd(8) },
    {
      title: "OUTCOME",
      value: ({ outcome }) => visible(outcome).padEnd(9),
      style: (text, { outcome }) => paint(text, outcome, color),
    },
    { title: "ACTOR", value: ({ actor }) => visible(actor).padEnd(7) },
    { title: "SUMMARY", value: ({ summary }) => visible(summary), flexible: true },
  ];
}

/** For a program: everything whole, but for the detail, which only JSON can hold. */
export const AUDIT_PIPED_COLUMNS: Column<AuditEntry>[] = [
  { title: "SEQ", value: ({ seq }) => String(seq) },
  { title: "AT", value: ({ at }) => visible(at) },
  { title: "KIND", value: ({ kind }) => visible(kind) },
  { title: "OUTCOME", value: ({ outcome }) => visible(outcome) },
  { title: "AGENT", value: ({ agent }) => visible(agent) },
  { title: "SESSION", value: ({ session }) => visible(session ?? "-") },
  { title: "ACTOR", value: ({ actor }) => visible(actor) },
  { title: "CHANNEL", value: ({ channel }) => visible(channel) },
  { title: "SUMMARY", value: ({ summary }) => visible(summary) },
];

export function chainSentence({ entries, head, broken }: ChainReport): string {
  if (broken) return `Entry ${broken.seq} breaks the audit log: ${broken.why}. The ${entries} before it are whole.`;
  return entries === 0
    ? "The audit log is empty."
    : `All ${entries} entries are whole. The head is ${head.seq}:${head.hash}`;
}

export function chainLine({ entries, head, broken }: ChainReport): string {
  return broken ? `broken\t${broken.seq}\t${broken.why}` : `whole\t${entries}\t${head.seq}:${head.hash}`;
}

function paint(text: string, outcome: string, color: boolean): string {
  const hue = OUTCOME_COLOR[outcome];
  return color && hue ? styleText(hue, text, { validateStream: false }) : text;
}
