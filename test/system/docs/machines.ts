import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { putOnPath } from "../../fixtures/installed.ts";
import { NatsServer } from "../../fixtures/nats.ts";
import { killAndWait } from "../../fixtures/processes.ts";
import { pause } from "../../fixtures/until.ts";
import { answers } from "./answers.ts";
import { ROOT } from "./pages.ts";
import type { Step } from "./steps.ts";

/** The time limit for one step. It only turns a hanging step into a failure. */
const LIMIT_MS = 120_000;
/** Commands that run until they are stopped. The next step starts when they have printed the expected output. */
const LONG_RUNNING = /\bsallyport (serve|worker|mcp --http|audit tail -f|screen --watch)\b/;
/** Commands without side effects. They are repeated until they print the expected output, which may take a moment. */
const REPEATABLE = /^sallyport (screen|ps|logs|work|stats)\b/;
/** An assignment of a command's output to a variable, which later steps of the page use. */
const ASSIGNS = /^([A-Z]+)=\$\((.*)\)\s*(?:#.*)?$/;
/** Addresses on the pages, which are replaced with free ones because they may be in use on this machine. */
const FLEET = "nats://10.0.0.1:4222";
const CONSOLE = "http://127.0.0.1:4180";

interface Outcome {
  output: string;
  code: number | null;
}

/** The machines of one page, each with its own home directory, workspace and state folder. */
export class Machines {
  readonly #folder = mkdtempSync(join(tmpdir(), "sallyport-transcript-"));
  readonly #bin = join(this.#folder, "bin");
  readonly #names = new Set<string>();
  readonly #variables: Record<string, string> = {};
  readonly #longRunning: ChildProcess[] = [];
  #fleet: NatsServer | null = null;
  #console = CONSOLE;

  constructor(program: string) {
    putOnPath(this.#bin, program);
    symlinkSync(join(ROOT, "node_modules/.bin/mcp-inspector"), join(this.#bin, "mcp-inspector"));
  }

  /** Runs a step. Returns its output if it differs from the output on the page, otherwise null. */
  async mismatch(step: Step): Promise<string | null> {
    const here = { ...step, command: await this.#withLocalAddresses(step.command) };
    const end = Date.now() + LIMIT_MS;
    if (LONG_RUNNING.test(here.command)) return this.#startLongRunning(here, end);
    for (;;) {
      const { output, code } = await this.#runOrAssign(here);
      if (isExpected(here, { output, code })) return null;
      if (!REPEATABLE.test(here.command) || Date.now() > end) return `${output}exit code ${code}`;
      await pause(100);
    }
  }

  async #withLocalAddresses(command: string): Promise<string> {
    if (command.includes(FLEET)) this.#fleet ??= await NatsServer.start();
    return command
      .replace(FLEET, this.#fleet?.url ?? FLEET)
      .replace(CONSOLE, this.#console)
      .replace(/\bsallyport serve\b/, "$& --listen 0")
      .replace(/\bsallyport mcp --http \d+/, "sallyport mcp --http 0");
  }

  async #runOrAssign(step: Step): Promise<Outcome> {
    const [, name, value] = ASSIGNS.exec(step.command) ?? [];
    if (!name || !value) return this.run(step);
    const { output, code } = await this.run({ ...step, command: value });
    this.#variables[name] = output.trim();
    return { output: "", code };
  }

  async #startLongRunning(step: Step, end: number): Promise<string | null> {
    const child = this.#spawn(step.machine, `exec env ${step.command}`);
    this.#longRunning.push(child);
    const output = collected(child);
    const expected = step.expected === null ? "…\n…" : `${step.expected.trimEnd()}\n…`;
    while (!answers(output.text, expected) && Date.now() < end && child.exitCode === null) await pause(20);
    this.#console = /^Serving the console at (\S+)$/m.exec(output.text)?.[1] ?? this.#console;
    return answers(output.text, step.expected ?? expected) ? null : output.text;
  }

  async run({ machine, command, onTerminal }: Pick<Step, "machine" | "command" | "onTerminal">): Promise<Outcome> {
    const child = onTerminal ? this.#spawnOnTerminal(machine, command) : this.#spawn(machine, command);
    const output = collected(child);
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    const [code] = await once(child, "close");
    clearTimeout(timer);
    return { output: onTerminal ? withoutErased(output.text) : output.text, code };
  }

  /** Runs a command as in a pipeline of a person: its output is a pipe, and it has a terminal. */
  #spawn(machine: string, command: string): ChildProcess {
    const { cwd, env } = this.#surroundings(machine);
    // An approval covers the environment, so the variable must not be passed on.
    const line = 'step=$STEP; unset STEP; exec bash -c "$step" < /dev/null >&3 2>&3';
    return spawn("script", ["-qec", line, "/dev/null"], {
      cwd,
      env: { ...env, SHELL: "/bin/bash", STEP: command },
      stdio: ["pipe", "ignore", "ignore", "pipe"],
    });
  }

  #spawnOnTerminal(machine: string, command: string): ChildProcess {
    const { cwd, env } = this.#surroundings(machine);
    const line = 'stty cols 160 rows 30 -onlcr; exec bash -c "$STEP"';
    // Stdin stays open, because `script` would type an end-of-file character when it is closed.
    return spawn("script", ["-qec", line, "/dev/null"], {
      cwd,
      env: { ...env, STEP: command, TERM: "xterm-256color", NO_COLOR: "1" },
      stdio: ["pipe", "pipe", "ignore"],
    });
  }

  /** Creates the home directory and workspace of a machine when they do not exist. */
  #surroundings(machine: string): { cwd: string; env: NodeJS.ProcessEnv } {
    const home = join(this.#folder, `home${machine}`);
    const cwd = join(this.#folder, `project${machine}`);
    for (const each of [home, cwd]) mkdirSync(each, { recursive: true });
    this.#names.add(machine);
    const PATH = `${this.#bin}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin`;
    return { cwd, env: { PATH, HOME: home, USER: "ada", LC_ALL: "C.UTF-8", ...this.#variables } };
  }

  async close(): Promise<void> {
    for (const child of this.#longRunning) await killAndWait(child, "SIGTERM");
    const command = "sallyport rm -f $(sallyport ps -aq)";
    for (const machine of this.#names) await this.run({ machine, command, onTerminal: false });
    await this.#fleet?.close();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Reports whether a step printed the output on the page or, when the page shows none, ran without an error. */
function isExpected({ expected, onTerminal }: Step, { output, code }: Outcome): boolean {
  if (expected === null) return code === 0;
  return expected.trim() === "" ? !/^sallyport: /m.test(output) : answers(output, expected, onTerminal);
}

/** Removes text that the program erased from its line later, such as a progress message. */
function withoutErased(output: string): string {
  const erase = "\x1b[K";
  return output
    .split("\n")
    .map((line) => line.split(erase).at(-1))
    .join("\n");
}

function collected(child: ChildProcess): { text: string } {
  const output = { text: "" };
  const stream = (child.stdout ?? child.stdio[3]) as Readable;
  stream.setEncoding("utf8").on("data", (data: string) => {
    output.text += data;
  });
  return output;
}
