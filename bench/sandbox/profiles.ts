/** `node profiles.ts ROUNDS NAME...` prints the p50 of /bin/true in ms for each sandbox profile, as JSON. */
import { execFileSync, spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { benchGateway, percentile, takeTurns, UNLIMITED } from "../measure.ts";

export interface Costs {
  off: number;
  "workspace-write": number;
  isolated: number;
  "isolated, no network": number;
  bwrap: number | null;
  /** The time of bwrap when `child_process.spawn` starts it instead of a keeper. */
  "bwrap by spawn": number | null;
}

const TRUE = "/bin/true";
const BWRAP = ["--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", TRUE];
const IN_A_ROW = 20;
const [rounds = "100", ...names] = process.argv.slice(2);

function has(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const { gateway, leave } = await benchGateway({ policy: { ...UNLIMITED.policy, sandbox: "off" } });
const ours = (request: object) => async () => {
  const { exitCode, error } = await gateway.run({ command: TRUE, args: [], ...request });
  if (exitCode !== 0) throw new Error(`the command exited with code ${exitCode}: ${error?.message}`);
};
const subjects: [keyof Costs, () => Promise<unknown>][] = [
  ["off", ours({})],
  ["workspace-write", ours({ sandbox: "workspace-write" })],
  ["isolated", ours({ sandbox: "isolated" })],
  ["isolated, no network", ours({ sandbox: "isolated", network: "off" })],
];
// A keeper starts bwrap too, so that only the sandboxes differ.
if (has("bwrap")) {
  subjects.push(["bwrap", ours({ command: "bwrap", args: BWRAP })]);
  subjects.push(["bwrap by spawn", () => new Promise((resolve) => spawn("bwrap", BWRAP).on("close", resolve))]);
}
// A keeper caches nothing about a folder that changed within the last two seconds, such as the new state folder.
await pause(2500);
const wanted = subjects.filter(([name]) => names.length === 0 || names.includes(name));
const samples = await takeTurns(
  Number(rounds) / IN_A_ROW,
  wanted.map(([, subject]) => subject),
  IN_A_ROW,
);
const costs = { bwrap: null, "bwrap by spawn": null } as Costs;
for (const [index, [name]] of wanted.entries()) costs[name] = percentile(samples[index] ?? [], 0.5);
process.stdout.write(JSON.stringify(costs));
await leave();
