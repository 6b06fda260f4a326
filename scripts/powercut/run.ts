/** `npm run powercut -- [--cuts N] [--seed S] [--durability process|power-loss]`: exits with 1 when there are findings. */
import { parseArgs } from "node:util";
import type { CheckReport, Counts } from "./check.ts";
import { powercut, whyNot } from "./powercut.ts";

const { values } = parseArgs({
  options: {
    cuts: { type: "string", default: "50" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
    durability: { type: "string" },
    seconds: { type: "string", default: "6" },
  },
});
const [cuts, seed, seconds] = [values.cuts, values.seed, values.seconds].map(Number) as [number, number, number];
if (!(cuts > 0) || !Number.isInteger(seed) || !(seconds > 0))
  throw new Error("--cuts, --seed and --seconds must be numbers");
const reason = whyNot();
if (reason !== null) throw new Error(`cannot simulate power failures here: ${reason}`);
const kinds = ["process", "power-loss"] as const;
let failed = false;
for (const durability of kinds.filter((kind) => values.durability === undefined || kind === values.durability)) {
  process.stderr.write(`powercut: ${cuts} cuts, durability ${durability}, seed ${seed} …\n`);
  const onCut = () => process.stderr.write(".");
  const reports = await powercut({ cuts, seed, durability, longestMs: seconds * 1000, onCut });
  process.stderr.write("\n");
  process.stdout.write(summary(durability, reports));
  failed ||= reports.some(({ findings }) => findings.length > 0);
}
process.exit(failed ? 1 : 0);

function summary(durability: string, reports: CheckReport[]): string {
  const sum = (of: (report: CheckReport) => number) => reports.reduce((total, report) => total + of(report), 0);
  const share = (kind: keyof Counts) => {
    const [kept, all] = [sum((report) => report.kept[kind]), sum((report) => report.acknowledged[kind])];
    return `${kind} ${kept} of ${all}`;
  };
  const kinds = ["sessions", "exits", "bytes", "audit", "work"] as const;
  const findings = reports.flatMap((report, cut) => report.findings.map((text) => `  cut ${cut + 1}: ${text}\n`));
  return `${durability}: ${reports.length} cuts; kept: ${kinds.map(share).join(", ")}; ${sum(({ restored }) => restored)} sessions restored, ${sum(({ gaps }) => gaps)} gaps, ${findings.length} findings\n${findings.join("")}`;
}
