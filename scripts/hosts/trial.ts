import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Mode } from "../../src/setup/hosts/host.ts";
import type { Headless } from "./headless/headless.ts";
import type { Installed } from "./install.ts";
import { serveModel } from "./model/server.ts";
import { killAllOf, run } from "./process.ts";
import { Recorder } from "./record/recorder.ts";
import { type AuditEntry, type Check, check, stepsFor } from "./scenario.ts";
import { type Played, Script } from "./script.ts";

const ENTRY = fileURLToPath(new URL("../../bin/sallyport.js", import.meta.url));
const HOST_TIMEOUT_MS = 4 * 60_000;
const COMMAND_TIMEOUT_MS = 60_000;
/** Nothing listens here, so that no host reaches the internet. */
const NO_PROXY_HERE = "http://127.0.0.1:9";

export interface Trial {
  host: string;
  version: string;
  mode: Mode;
  checks: Check[];
  /** The calls of the model, and what it got for each. */
  calls: Played[];
  /** The tools that the host offered to the model in its first request. */
  tools: string[];
  seconds: number;
}

export interface Options {
  /** Keep the folder of the trial. */
  keep: boolean;
  /** Record what passes between the host and Sallyport in a file of this folder. */
  record: string | null;
}

/** The folders of the trials that are running. */
const running = new Set<string>();

/** Ends every process of the running trials, and removes their folders. */
export function endTrials(): void {
  for (const root of running) end(root, false);
}

/** Ends every process of a trial, and removes its folder. */
export function endTrial(root: string): void {
  end(root, false);
}

function end(root: string, keep: boolean): void {
  killAllOf(root);
  running.delete(root);
  if (!keep) rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

/** Runs a host once in one mode, in a home directory of its own, and checks what happened. */
export async function runTrial(
  host: Headless,
  { program, version }: Installed,
  mode: Mode,
  { keep, record }: Options,
): Promise<Trial> {
  const root = mkdtempSync(join(tmpdir(), `sallyport-host-${host.name}-`));
  running.add(root);
  const home = join(root, "home");
  const workspace = join(root, "workspace");
  for (const folder of [home, workspace]) mkdirSync(folder);
  const steps = stepsFor(host, mode);
  const script = new Script(steps);
  const model = await serveModel((conversation) => script.next(conversation));
  const started = performance.now();
  const env = environment(home);
  try {
    const launch = host.launch({ home, model: model.url, prompt: "Run the commands.", mode });
    const [file = program, ...before] = await setUp(host, program, mode, { workspace, env });
    const recorder = record === null ? null : new Recorder(root);
    recorder?.install(ENTRY);
    const ended = await run(file, [...before, ...launch.args], {
      cwd: workspace,
      env: { ...env, ...launch.env },
      timeoutMs: HOST_TIMEOUT_MS,
    });
    if (script.played.length === 0) throw new Error(failure(ended, model.requests));
    recorder?.save(join(record ?? "", `${host.name}-${mode}.jsonl`));
    const exported = await sallyport(["audit", "export"], workspace, env);
    const audit = exported.split("\n").filter(Boolean);
    const entries = audit.map((line) => JSON.parse(line) as AuditEntry);
    return {
      host: host.name,
      version,
      mode,
      checks: check(host, script.played, entries, workspace),
      calls: script.played,
      tools: model.requests.find(({ tools }) => tools.length > 0)?.tools ?? [],
      seconds: Math.round((performance.now() - started) / 100) / 10,
    };
  } finally {
    await model.close();
    end(root, keep);
  }
}

/** The environment of a host: nothing from the caller, and no way to the internet. */
export function environment(home: string): Record<string, string> {
  return {
    HOME: home,
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    SHELL: "/bin/bash",
    LANG: "C.UTF-8",
    TERM: "dumb",
    NO_COLOR: "1",
    HTTPS_PROXY: NO_PROXY_HERE,
    HTTP_PROXY: NO_PROXY_HERE,
    NO_PROXY: "127.0.0.1,localhost",
    DO_NOT_TRACK: "1",
  };
}

/**
 * Connects the host to Sallyport. Returns how to start it: its program, or a shell with the line that a user would add to
 * the startup file of their shell.
 */
export async function setUp(
  { name }: Headless,
  program: string,
  mode: Mode,
  { workspace, env }: { workspace: string; env: Record<string, string> },
): Promise<string[]> {
  const text = await sallyport(["setup", name, "--mode", mode, "--yes", "--json"], workspace, env);
  const { startupLine } = JSON.parse(text) as { startupLine?: string };
  if (startupLine === undefined) return [program];
  // The line names the program as found on PATH.
  env.PATH = `${dirname(program)}:${env.PATH}`;
  const start = `${startupLine}\n${basename(program)} "$@"`;
  return ["/bin/bash", "-O", "expand_aliases", "-c", start, "bash"];
}

async function sallyport(args: string[], cwd: string, env: Record<string, string>): Promise<string> {
  const ended = await run(process.execPath, [ENTRY, ...args], { cwd, env, timeoutMs: COMMAND_TIMEOUT_MS });
  if (ended.code === 0) return ended.stdout;
  throw new Error(`\`sallyport ${args.join(" ")}\` exited with ${ended.code}: ${ended.stderr.trim()}`);
}

function failure(
  ended: { code: number | null; stdout: string; stderr: string; timedOut: boolean },
  requests: object[],
): string {
  const why = ended.timedOut ? "was killed because it took too long" : `exited with ${ended.code}`;
  const said = `${ended.stdout}${ended.stderr}`.trim().split("\n").slice(-5).join("\n");
  return `it ${why} without a tool call after ${requests.length} requests to the model:\n${said}`;
}
