/** Opens a gateway on the disk as it was after a power failure, and compares it with what had been acknowledged. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openGateway } from "../../src/gateway/open.ts";
import { type Acknowledged, outputText, readJournal } from "./acknowledged.ts";

export interface CheckOptions {
  state: string;
  workspace: string;
  journal: string;
  durability: "process" | "power-loss";
}

/** The result of one power failure. */
export interface CheckReport {
  /** Acknowledged sessions, exits, bytes of output, audit entries and work items. */
  acknowledged: Counts;
  /** The part of these that was on the disk. */
  kept: Counts;
  /** Sessions that were restored from their folders. */
  restored: number;
  gaps: number;
  findings: string[];
}

export interface Counts {
  sessions: number;
  exits: number;
  bytes: number;
  audit: number;
  work: number;
}

const options = JSON.parse(process.argv[2] ?? "") as CheckOptions;
const findings: string[] = [];
const counts = (): Counts => ({ sessions: 0, exits: 0, bytes: 0, audit: 0, work: 0 });
const report: CheckReport = { acknowledged: counts(), kept: counts(), restored: 0, gaps: 0, findings };
const open = () =>
  openGateway({
    state: options.state,
    workspace: options.workspace,
    durability: options.durability,
    configuration: null,
    approve: async () => ({ decision: "once", who: "powercut" }),
  });
const gateway = await open();
const acknowledged = readJournal(options.journal);
const cutMs = Date.now();

/** The acknowledged output and exit code of each session. */
const sessions = new Map<string, { lines: number; bytes: number; exitCode?: number | null }>();
for (const line of acknowledged) {
  if (line.what === "started") sessions.set(line.id, { lines: line.lines, bytes: 0 });
  else if (line.what === "read") Object.assign(sessions.get(line.id) ?? {}, { bytes: line.bytes });
  else if (line.what === "ended") sessions.set(line.id, line);
}

const listed = new Map(gateway.list({ limit: 100_000 }).map((info) => [info.id, info]));

for (const [id, { lines, bytes, exitCode }] of sessions) {
  report.acknowledged.sessions++;
  report.acknowledged.bytes += bytes;
  if (exitCode !== undefined) report.acknowledged.exits++;
  const known = listed.get(id);
  if (!known) continue;
  report.kept.sessions++;
  if (exitCode !== undefined && known.exitCode === exitCode && known.status === "completed") report.kept.exits++;
  const { text } = await gateway.session(id).logs({ limit: 16 << 20 });
  report.kept.bytes += Math.min(bytes, text.length);
  if (!outputText(lines).startsWith(text))
    findings.push(`${id}: the output differs: ${JSON.stringify(text.slice(-80))}`);
}

for (const { id, status, startedAt, endedAt, durationMs, streams, warnings } of listed.values()) {
  if (status === "running") findings.push(`${id} is still running`);
  if (endedAt !== null && (Date.parse(endedAt) < Date.parse(startedAt) || Date.parse(endedAt) > cutMs))
    findings.push(`${id} ended at ${endedAt}, which is not possible`);
  if (status === "lost" && (endedAt !== null || durationMs !== null)) findings.push(`${id}: invented times`);
  const { text } = await gateway.session(id).logs({ limit: 16 << 20 });
  if (text.includes("\0")) findings.push(`${id}: NULs in the output`);
  if (text.length !== (streams.stdout?.bytes ?? 0))
    findings.push(`${id}: ${text.length} bytes, not ${streams.stdout?.bytes}`);
  if (warnings.some((warning) => /restored in part/.test(warning))) report.restored++;
}
// After an early cut, the folder of the sessions is not on the disk yet.
const folder = join(options.state, "sessions");
for (const id of existsSync(folder) ? readdirSync(folder) : [])
  if (!listed.has(id)) findings.push(`${id} has no record`);

checkAudit(acknowledged.filter((line) => line.what === "audit"));
const items = new Set(gateway.work.list({ limit: 100_000 }).map(({ key }) => key));
for (const line of acknowledged) {
  if (line.what !== "work") continue;
  report.acknowledged.work++;
  if (items.has(line.key)) report.kept.work++;
}
await gateway.close();
const again = await open();
if (again.audit.search({ kind: "gap" }).length !== report.gaps) findings.push("a gap was recorded twice");
await again.close();
if (options.durability === "power-loss") {
  for (const kind of Object.keys(report.kept) as (keyof Counts)[]) {
    const lost = report.acknowledged[kind] - report.kept[kind];
    if (lost > 0) findings.push(`${lost} of ${report.acknowledged[kind]} acknowledged ${kind} are missing`);
  }
  if (report.gaps > 0) findings.push("a gap was recorded, although nothing may be missing");
}
process.stdout.write(`${JSON.stringify(report)}\n`);

function checkAudit(lines: Extract<Acknowledged, { what: "audit" }>[]): void {
  const { broken, gaps } = gateway.audit.verify();
  if (broken) findings.push(`the audit log is broken at ${broken.seq}: ${broken.why}`);
  report.gaps = gaps.length;
  const end = gaps[0]?.after ?? Number.POSITIVE_INFINITY;
  for (const { seq, hash } of new Map(lines.map((line) => [line.seq, line])).values()) {
    report.acknowledged.audit++;
    const [entry] = gateway.audit.search({ before: seq + 1, limit: 1 });
    if (entry?.hash === hash) report.kept.audit++;
    else if (seq <= end) findings.push(`audit entry ${seq} is missing, and the log does not say so`);
  }
}
