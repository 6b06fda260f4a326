/** `npm run soak -- [--minutes N] [--seed S] [--gateways N]`: exits with 1 when there are findings. */
import { parseArgs } from "node:util";
import { printReport } from "./report.ts";
import { soak } from "./soak.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
    gateways: { type: "string", default: "3" },
  },
});
const [minutes, seed, gateways] = [values.minutes, values.seed, values.gateways].map(Number) as [
  number,
  number,
  number,
];
if (!(minutes > 0) || !Number.isInteger(seed) || !(gateways > 0))
  throw new Error("--minutes, --seed and --gateways must be numbers");
process.stderr.write(`soak: ${minutes} min, seed ${seed}, ${gateways} gateways …\n`);
const report = await soak({ seconds: minutes * 60, seed, gateways });
process.stdout.write(printReport(report));
process.exit(report.findings.length > 0 ? 1 : 0);
