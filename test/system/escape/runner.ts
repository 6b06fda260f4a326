/**
 * `node runner.ts FOLDER TOOL SUID [PATTERN]`: runs each attempt, or those whose name matches the pattern, without and
 * with a sandbox, and prints the outcomes.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxLevel, UnsupportedFeature } from "../../../src/core/sandbox-level.ts";
import { openGateway } from "../../../src/gateway/open.ts";
import type { GatewayOptions } from "../../../src/gateway/options.ts";
import { until } from "../../fixtures/until.ts";
import { Arena } from "./arena.ts";
import type { Attempt } from "./attempt.ts";
import { ATTEMPTS } from "./attempts.ts";
import { type Ended, runBatch } from "./batch.ts";
import { others } from "./others.ts";

export interface Outcome {
  name: string;
  /** Why the attempt proves nothing on this machine: its output without a sandbox, or null. */
  impossible: string | null;
  /** The level of the sandbox, and the features for lack of which it does not promise to prevent the attempt. */
  level: SandboxLevel;
  notPromised: readonly UnsupportedFeature[];
  escaped: boolean;
  changed: boolean;
  said: string;
  warnings: readonly string[];
}

const [folder = "", tool = "", suid = "", pattern = ""] = process.argv.slice(2);
const capabilities = BigInt(`0x${/CapEff:\s+(\w+)/.exec(readFileSync("/proc/self/status", "latin1"))?.[1]}`);
const CAP_SYS_ADMIN = 21n;
const isAdmin = ((capabilities >> CAP_SYS_ADMIN) & 1n) === 1n;
/** What the current user is in terms of `Attempt.who`. */
const kinds = process.getuid?.() !== 0 ? ["ordinary"] : isAdmin ? ["root", "admin"] : ["root"];
const arena = new Arena(folder);
process.env.HOME = arena.home;
process.env.SSH_AUTH_SOCK = `${arena.sockets}/agent.sock`;
const shared = mkdtempSync("/tmp/sallyport-shared-");
const around = await others(arena.sockets, shared);

const options: GatewayOptions = {
  state: arena.state,
  workspace: arena.workspace,
  configuration: null,
  approve: async () => ({ decision: "once", who: "tester" }),
};
const limits = { sessions: 1000, startsPerMinute: 100_000 };
const denied = [`${arena.outside}/operators`];
const free = await openGateway({ ...options, policy: { sandbox: "off", limits } });
const confined = await openGateway({ ...options, policy: { sandbox: "workspace-write", denied, limits } });
// The folders are restored while this command runs, which breaks its masks. It also runs where nothing confines it.
const neighborWorkspace = join(folder, "neighbor");
mkdirSync(neighborWorkspace);
const neighbors = await openGateway({
  ...options,
  workspace: neighborWorkspace,
  agent: "neighbor",
  policy: { sandbox: "workspace-write", maskFailure: "warn", require: false, limits },
});
const neighbor = await neighbors.start({ command: "echo neighbor; exec sleep 1000", env: { TALE: "treasure" } });
const pid = neighbor.info().pid as number;
const keeper = Number(/PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]);

const env = {
  OUT: arena.outside,
  STATE: arena.state,
  TOOL: tool,
  SUID: suid,
  KEEPER: String(keeper),
  NEIGHBOR: String(pid),
  NEIGHBOR_ID: neighbor.id,
  GATEWAY: String(process.pid),
  PORT: String(around.port),
  SOCKETS: arena.sockets,
  SHARED: arena.shared,
  SHARED_TMP: shared,
  ABSTRACT: around.abstract,
};

const chosen = ATTEMPTS.filter(
  ({ name, who }) => (who === undefined || kinds.includes(who)) && new RegExp(pattern).test(name),
);
const batched = chosen.filter(({ meanwhile }) => meanwhile === undefined);
const controls = await controlsOf(batched);
const groups = Map.groupBy(chosen, ({ under = {} }) => JSON.stringify(under));
for (const [under, attempts] of groups) {
  for (const outcome of await outcomesOf(attempts, JSON.parse(under)))
    process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
const { status, error } = neighbor.info();
if (status !== "running") throw new Error(`the neighbor has ended: ${status} ${error?.message}`);
await neighbor.kill({ signal: "SIGKILL" });
for (const gateway of [free, confined, neighbors]) await gateway.close();
around.close();
arena.remove();
rmSync(shared, { recursive: true });

/**
 * Returns how attempts end without a sandbox. In emulated machines these take most of the time, so a file, if the
 * environment names one, keeps them for the next run on the same machine as the same user. Only what depends on the
 * settings of a boot is repeated.
 */
async function controlsOf(attempts: readonly Attempt[]): Promise<Map<string, Ended>> {
  const file = process.env.ESCAPE_CONTROLS;
  const kept = new Map<string, Ended>(file && existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : []);
  const missing = attempts.filter(({ name }) => !kept.has(name) || /namespace|raw|packet/.test(name));
  const { ended } = await runBatch(free, arena, missing, { env, under: {}, restores: true });
  const all = new Map([...kept, ...ended]);
  if (file) writeFileSync(file, JSON.stringify([...all]));
  return all;
}

/** Runs attempts that have the same sandbox. Those that seem to succeed together are repeated alone. */
async function outcomesOf(attempts: readonly Attempt[], under: object): Promise<Outcome[]> {
  const { level, notEnforced } = confined.check(["true"], under).sandbox ?? { level: "none", notEnforced: [] };
  const outcomes = attempts.map(({ name, unless = [] }) => {
    const control = controls.get(name);
    const impossible = control && control.code !== 0 ? `${control.code} ${control.output}` : null;
    const notPromised = unless.filter((feature) => notEnforced.includes(feature));
    return { name, impossible, level, notPromised, escaped: false, changed: false, said: "", warnings: [] };
  });
  const relevant = attempts.filter((_, index) => {
    const { impossible, notPromised } = outcomes[index] as Outcome;
    return impossible === null && notPromised.length === 0;
  });
  arena.restore();
  const before = arena.untouched();
  const together = relevant.filter(({ name }) => controls.has(name));
  const { ended, warnings } = await runBatch(confined, arena, together, { env, under, restores: false });
  const changed = before !== arena.untouched();
  const repeated = new Map<string, Partial<Outcome>>();
  for (const attempt of relevant) {
    const end = ended.get(attempt.name);
    if (end === undefined || end.code === 0 || changed) repeated.set(attempt.name, await alone(attempt));
  }
  return outcomes.map((outcome) => {
    const end = ended.get(outcome.name);
    const said = end ? `${end.code} ${end.output}` : "";
    return { ...outcome, said, warnings, ...repeated.get(outcome.name) };
  });
}

/** Runs one attempt in commands of its own. */
async function alone({ script, under = {}, meanwhile }: Attempt): Promise<Partial<Outcome>> {
  arena.restore();
  const control = await tryOut(free, script, {}, meanwhile);
  if (control.exitCode !== 0) return { impossible: `${control.status} ${control.exitCode} ${control.output}` };
  arena.restore();
  const before = arena.untouched();
  const result = await tryOut(confined, script, under, meanwhile);
  const after = meanwhile ? before : arena.untouched();
  const said = `${result.status} ${result.exitCode} ${result.output} ${result.error?.message ?? ""}`;
  // An attempt that was refused before the sandbox could stop it proves nothing, unless the sandbox is the reason.
  const ran = result.status === "completed" || result.status === "killed";
  return {
    impossible: ran || result.error?.type === "SandboxUnavailable" ? null : said,
    escaped: result.exitCode === 0,
    changed: before !== after,
    said,
    warnings: result.warnings,
  };
}

async function tryOut(gateway: typeof free, script: string, under: object, meanwhile: Attempt["meanwhile"]) {
  const over = new AbortController();
  // The script runs from a file, so that the sandbox stops the attempt and not the analysis of the command.
  writeFileSync(`${arena.sockets}/attempt.sh`, script);
  const running = gateway.run({
    command: "bash",
    args: [`${arena.sockets}/attempt.sh`],
    env,
    timeoutMs: 60_000,
    ...under,
  });
  // On an error the secret is not created, and the attempt proves nothing.
  if (meanwhile) void appearOnceReady(gateway, over.signal).catch(() => {});
  const result = await running;
  over.abort();
  if (result.error?.type === "SpawnFailed") throw new Error(result.error.message);
  return result;
}

async function appearOnceReady(gateway: typeof free, over: AbortSignal): Promise<void> {
  await until(
    "the command has printed `ready`",
    async () => {
      const [session] = gateway.list({ status: "running", agent: "default", limit: 1 });
      return (
        over.aborted || (session !== undefined && (await gateway.session(session.id).logs()).text.includes("ready"))
      );
    },
    60_000,
  );
  if (!over.aborted) arena.appear();
}
