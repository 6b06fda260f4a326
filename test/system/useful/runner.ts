/** `node runner.ts FOLDER`: runs every task with the default profile and prints the outcomes. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { openGateway } from "../../../src/gateway/open.ts";
import { JOBS } from "./jobs.ts";

export interface Outcome {
  name: string;
  missing: string | null;
  exitCode: number | null;
  said: string;
  warnings: string[];
}

const [folder = ""] = process.argv.slice(2);
const home = `${folder}/home`;
const workspace = `${folder}/workspace`;
mkdirSync(home);
mkdirSync(workspace);
process.env.HOME = home;
const gateway = await openGateway({
  state: `${folder}/state`,
  workspace,
  configuration: null,
  approve: async () => ({ decision: "once", who: "tester" }),
});

for (const { name, needs, script } of JOBS) {
  rmSync(workspace, { recursive: true });
  mkdirSync(`${workspace}/repository`, { recursive: true });
  const git = (...words: string[]) =>
    execFileSync("git", ["-C", `${workspace}/repository`, "-c", "user.name=x", "-c", "user.email=x@x", ...words]);
  git("init", "-q");
  git("commit", "-q", "--allow-empty", "-m", "first");
  const missing = needs.find((program) => !has(program)) ?? null;
  writeFileSync(`${workspace}/job.sh`, script);
  const result = missing ? null : await gateway.run({ command: "bash", args: ["-e", "job.sh"], timeoutMs: 180_000 });
  const said = result ? `${result.status} ${result.exitCode} ${result.output} ${result.error?.message ?? ""}` : "";
  const { exitCode = null, warnings = [] } = result ?? {};
  process.stdout.write(`${JSON.stringify({ name, missing, exitCode, said, warnings } satisfies Outcome)}\n`);
}
await gateway.close();

function has(program: string): boolean {
  try {
    execFileSync("sh", ["-c", 'command -v "$1"', "sh", program], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
