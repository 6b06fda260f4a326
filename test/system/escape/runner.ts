import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
/**
 * `node runner.ts FOLDER TOOL SUID [PATTERN]`: runs each attempt, or those whose name matches the pattern, without and
 * with a sandbox, and prints the outcomes.
 */
import { openGateway } from "../../../src/gateway/open.ts";
import type { GatewayOptions } from "../../../src/gateway/options.ts";
import { until } from "../../fixtures/until.ts";
import { Arena } from "./arena.ts";
import type { Attempt } from "./attempt.ts";
import { ATTEMPTS } from "./attempts.ts";
import { others } from "./others.ts";

export interface Outcome {
  name: string;
  /** Why the attempt proves nothing on this machine: its output without a sandbox, or null. */
  impossible: string | null;
  escaped: boolean;
  changed: boolean;
  said: string;
  warnings: string[];
}

const [folder = "", tool = "", suid = "", pattern = ""] = process.argv.slice(2);
const isRoot = process.getuid?.() === 0;
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
const neighbors = await openGateway({
  ...options,
  agent: "neighbor",
  policy: { sandbox: "workspace-write", limits },
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

for (const attempt of ATTEMPTS) {
  if (attempt.who === (isRoot ? "ordinary" : "root") || !new RegExp(pattern).test(attempt.name)) continue;
  process.stdout.write(`${JSON.stringify(await outcomeOf(attempt))}\n`);
}
await neighbor.kill({ signal: "SIGKILL" });
for (const gateway of [free, confined, neighbors]) await gateway.close();
around.close();
arena.remove();
rmSync(shared, { recursive: true });

async function outcomeOf({ name, script, under = {}, meanwhile }: Attempt): Promise<Outcome> {
  arena.restore();
  const control = await tryOut(free, script, {}, meanwhile);
  if (control.exitCode !== 0) {
    const said = `${control.status} ${control.exitCode} ${control.output} ${control.error?.message ?? ""}`;
    return { name, impossible: said, escaped: false, changed: false, said: "", warnings: [] };
  }
  arena.restore();
  const before = arena.untouched();
  const result = await tryOut(confined, script, under, meanwhile);
  const after = meanwhile ? before : arena.untouched();
  const said = `${result.status} ${result.exitCode} ${result.output} ${result.error?.message ?? ""}`;
  // An attempt that was refused before the sandbox could stop it proves nothing.
  const refused = result.status !== "completed" && result.status !== "killed";
  return {
    name,
    impossible: refused ? said : null,
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
