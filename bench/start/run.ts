import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { StdioServer } from "../mcp/server.ts";
import { atMost, percentile, type Subject, takeTurns } from "../measure.ts";
import { peerProgram } from "../peers.ts";
import type { BenchResult } from "../result.ts";
import { answered, freePort } from "./serve.ts";

/** Other programs that run one command in a sandbox, with options like those of our default profile. */
const PEERS: { name: string; args: (cwd: string) => string[] }[] = [
  {
    name: "bwrap",
    args: (cwd) => [
      ...["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session"],
      ...[
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/tmp",
        "--bind",
        cwd,
        cwd,
        "/bin/true",
      ],
    ],
  },
  { name: "srt", args: () => ["/bin/true"] },
  { name: "codex", args: () => ["sandbox", "--", "/bin/true"] },
];

const ROOT = join(import.meta.dirname, "../..");
const WITHIN_MS = 60_000;

/** Bundles and installs the CLI as npm does, and returns the paths of its entry point and of the native client. */
function install(folder: string): { entry: string; client: string } {
  const to = join(folder, "package");
  mkdirSync(join(to, "bin"), { recursive: true });
  for (const file of ["package.json", "bin/sallyport.js", "bin/sallyport.cjs", "bin/sallyport-sh.cjs"])
    copyFileSync(join(ROOT, file), join(to, file));
  cpSync(join(ROOT, "native"), join(to, "native"), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(to, "node_modules"));
  execFileSync(process.execPath, [join(ROOT, "scripts/bundle.ts"), join(to, "dist/cli")]);
  const env = { ...process.env, npm_config_user_agent: "npm/11" };
  execFileSync(process.execPath, [join(to, "native/install.js")], { env, stdio: "ignore" });
  return { entry: join(to, "bin/sallyport.js"), client: join(to, "bin/sallyport.cjs") };
}

/**
 * Measures the time from process start to exit of CLI commands, which is how long a person at a shell waits, and the time
 * until a server has answered its first request.
 */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  // codex does not work in folders below /tmp.
  const folder = mkdtempSync("/var/tmp/sallyport-bench-");
  const state = join(folder, "state");
  const cwd = join(folder, "work");
  mkdirSync(cwd);
  const event = join(folder, "event.json");
  const call = { tool_name: "Bash", tool_input: { command: "ls" }, hook_event_name: "PreToolUse" };
  writeFileSync(event, JSON.stringify({ ...call, cwd, session_id: "bench", tool_use_id: "call" }));
  try {
    const { entry, client } = install(folder);
    // The client starts the Node on PATH.
    const path = `${dirname(process.execPath)}:${process.env.PATH}`;
    const env = { PATH: path, HOME: folder, SALLYPORT_STATE: state };
    // Not /dev/null, as a hook whose answer cannot be read takes the short way to a denial.
    const output = openSync("/dev/zero", "w");
    const program = (file: string, args: string[], { input = "/dev/null", more = {} } = {}) => {
      return async () => {
        const stdin = openSync(input, "r");
        const child = spawn(file, args, { cwd, env: { ...env, ...more }, stdio: [stdin, output, "ignore"] });
        closeSync(stdin);
        await new Promise<void>((resolve, reject) => {
          child.on("error", reject);
          child.on("close", (code) =>
            code === 0 ? resolve() : reject(new Error(`${file} ${args.join(" ")}: ${code}`)),
          );
        });
      };
    };
    const node = (...args: string[]) => program(process.execPath, args);
    const starter = join(folder, "starter");
    execFileSync("cc", ["-std=c99", "-D_GNU_SOURCE", "-O2", join(import.meta.dirname, "starter.c"), "-o", starter]);
    /** Measures a program as a shell starts it, without what `child_process.spawn` costs the process of the benchmark. */
    const fromShell = (file: string, args: string[], input = "/dev/null") => ({
      timed: async () => {
        const { stdout } = await promisify(execFile)(starter, [input, file, ...args], { cwd, env });
        return Number(stdout);
      },
    });
    const initialize = {
      timed: async () => {
        const from = performance.now();
        const server = new StdioServer(process.execPath, [entry, "mcp"], { cwd, env });
        await server.initialize();
        const tookMs = performance.now() - from;
        await server.leave();
        return tookMs;
      },
    };
    const serve = {
      timed: async () => {
        const port = await freePort();
        const args = [entry, "serve", "--no-link", "--listen", `${port}`];
        const from = performance.now();
        const child = spawn(process.execPath, args, { cwd, env, stdio: "ignore" });
        const exited = once(child, "exit");
        const failed = exited.then(([code]) => Promise.reject(new Error(`serve exited with ${code}`)));
        failed.catch(() => {});
        await Promise.race([answered(`http://127.0.0.1:${port}/readyz`), failed]);
        const tookMs = performance.now() - from;
        // The first service fills the compile cache once it has loaded what it needs.
        await Promise.race([until("the compile cache is filled", () => isCompiled(state, "serve")), failed]);
        child.kill("SIGTERM");
        await exited;
        return tookMs;
      },
    };
    // The first run creates the state folder and starts the keepers; the second fills the compile cache.
    for (let n = 0; n < 2; n++) await node(entry, "run", "--", "true")();
    await until("a resident gateway has started", () => isResident(state), program(client, ["run", "--", "true"]));
    const peers = PEERS.map(({ name, args }) => ({ name, file: peerProgram(name), args: args(cwd) }));
    const able: { name: string; start: Subject }[] = [];
    for (const { name, file, args } of peers) {
      const start = file === null ? null : fromShell(file, args);
      const works = start?.timed().then(
        () => true,
        () => false,
      );
      if (start && (await works)) able.push({ name, start });
    }
    const subjects: Subject[] = [
      node("-e", "0"),
      node(entry, "--version"),
      node(entry, "run", "--", "true"),
      fromShell(process.execPath, ["-e", "0"]),
      fromShell(client, ["run", "--", "true"]),
      fromShell(client, ["check", "--", "ls"]),
      fromShell(client, ["hook", "claude-code"], event),
      initialize,
      serve,
      ...able.map(({ start }) => start),
    ];
    const samples = await takeTurns(quick ? 20 : 60, subjects);
    const medians = samples.map((each) => percentile(each, 0.5));
    const [nothing = 0, version = 0, cold = 0, shell = 0, command = 0, check = 0, hook = 0] = medians;
    const [handshake = 0, ready = 0, ...others] = medians.slice(7);
    const peer = { peer: "node -e 0", peerValue: nothing, unit: "ms" } as const;
    const inShell = { ...peer, peerValue: shell };
    return [
      atMost(1.3, { name: "cold start of `sallyport --version`, p50", ours: version, ...peer }),
      atMost(2, { name: "cold start of `sallyport run -- true`, p50", ours: cold, ...peer }),
      atMost(0.25, { name: "`sallyport run -- true` from a shell, p50", ours: command, ...inShell }),
      atMost(0.15, { name: "`sallyport check -- ls` from a shell, p50", ours: check, ...inShell }),
      atMost(0.15, { name: "`sallyport hook claude-code` from a shell, p50", ours: hook, ...inShell }),
      atMost(2, { name: "`sallyport mcp`: `initialize` answered, p50", ours: handshake, ...peer }),
      atMost(2.5, { name: "`sallyport serve`: `GET /readyz` answered, p50", ours: ready, ...peer }),
      ...peers.map(({ name, file }) => {
        const peerValue = others[able.findIndex((each) => each.name === name)] ?? null;
        const why = file === null ? " is not installed" : " does not work on this machine";
        return {
          name: "`sallyport run -- true` from a shell, p50",
          ours: command,
          peer: peerValue === null ? `${name}${why}` : name,
          peerValue,
          ratio: peerValue === null ? null : command / peerValue,
          unit: "ms" as const,
          target: "",
          pass: null,
        };
      }),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true }); // The keepers and the resident gateway exit without the state folder.
  }
}

async function until(what: string, holds: () => boolean, again = async () => {}): Promise<void> {
  const deadline = performance.now() + WITHIN_MS;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`timed out before ${what}`);
    await again();
    await sleep(100);
  }
}

function isResident(state: string): boolean {
  return readdirSync(state).some((name) => /^resident-.*\.sock$/.test(name));
}

/** Reports whether the compile cache of a command is filled. */
function isCompiled(state: string, command: string): boolean {
  return globSync(join(state, "compiled/*", `core-*.${command}.compiled`)).length > 0;
}
