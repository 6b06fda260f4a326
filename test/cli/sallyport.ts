import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

export const ENTRY = fileURLToPath(new URL("../../bin/sallyport.js", import.meta.url));

/** Nothing here takes half as long, however busy the machine; what does is stuck. */
const LONGEST_MS = 120_000;

export interface Outcome {
  stdout: string;
  stderr: string;
  /** The bytes, where text will not do. */
  raw: Buffer;
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Options {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  input?: string | Uint8Array;
  nodeArgs?: string[];
  /** Goes before the command in a shell line. */
  shellBefore?: string;
  /** Goes on after the command in a shell line: `| head -1`, `> /dev/full`. The exit code is still the command's. */
  shell?: string;
}

/** A state folder of its own, to be removed after the tests. */
export class Sandbox {
  readonly folder = mkdtempSync(join(tmpdir(), "sallyport-cli-"));
  readonly state = join(this.folder, "state");

  /** Starts the real program as a real process. */
  spawn(args: string[], options: Options = {}): ChildProcess {
    const argv = [process.execPath, ...(options.nodeArgs ?? []), ENTRY, ...args];
    const [file = "", ...rest] = options.shell
      ? ["bash", "-c", `${options.shellBefore ?? ""} ${shellLine(argv)} ${options.shell}; exit \${PIPESTATUS[0]}`]
      : argv;
    const { cwd = this.folder } = options;
    return spawn(file, rest, { cwd, env: this.env(options.env), stdio: "pipe", timeout: LONGEST_MS });
  }

  /** Runs it to its end. */
  async run(args: string[], options: Options = {}): Promise<Outcome> {
    const child = this.spawn(args, options);
    child.stdin?.on("error", () => {});
    child.stdin?.end(options.input ?? "");
    return outcome(child);
  }

  /** Runs it with a terminal of this size on all three streams; `stdout` is what the terminal received. */
  async terminal(args: string[], options: Options & { columns?: number } = {}): Promise<Outcome> {
    const { child } = this.onTerminal(args, options);
    child.stdin?.end();
    return outcome(child);
  }

  /** The same, to be talked to: what is written to its stdin is typed. */
  onTerminal(args: string[], options: Options & { columns?: number } = {}): { child: ChildProcess; shows(): string } {
    const line = shellLine([process.execPath, ENTRY, ...args]);
    const script = `stty cols ${options.columns ?? 80} rows 24 -onlcr; exec ${line}`;
    const child = spawn("script", ["-qec", script, "/dev/null"], {
      cwd: options.cwd ?? this.folder,
      env: this.env({ TERM: "xterm-256color", ...options.env }),
      stdio: "pipe",
      timeout: LONGEST_MS,
    });
    let shown = "";
    child.stdout?.on("data", (data: Buffer) => {
      shown += data;
    });
    return { child, shows: () => shown };
  }

  /** Runs it again and again until it prints what is wanted. */
  async until(args: string[], wanted: string): Promise<Outcome> {
    const deadline = Date.now() + LONGEST_MS;
    for (;;) {
      const outcome = await this.run(args);
      if (outcome.stdout.includes(wanted)) return outcome;
      assert.ok(Date.now() < deadline, `${args.join(" ")} never printed ${wanted}: ${outcome.stdout}${outcome.stderr}`);
    }
  }

  remove(): void {
    // Whatever else is still writing there is about to stop.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  private env(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    const { NO_COLOR: _, FORCE_COLOR: __, NODE_OPTIONS: ___, COLUMNS: ____, ...inherited } = process.env;
    return { ...inherited, SALLYPORT_STATE: this.state, ...extra };
  }
}

function shellLine(argv: string[]): string {
  return argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

export async function outcome(child: ChildProcess): Promise<Outcome> {
  const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve([code, signal]));
  });
  const read = (stream: ChildProcess["stdout"]) => (stream ? buffer(stream) : Promise.resolve(Buffer.alloc(0)));
  const [raw, stderr, [code, signal]] = await Promise.all([read(child.stdout), read(child.stderr), ended]);
  return { stdout: raw.toString(), stderr: stderr.toString(), raw, code, signal };
}
