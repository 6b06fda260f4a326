import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { NatsServer } from "../fixtures/nats.ts";
import { pause } from "../fixtures/until.ts";
import { ROOT, type Sample } from "./pages.ts";

/** What is typed after `$ ` (or `worker$ `, on another machine), and below it what it answers. */
export interface Step {
  machine: string;
  command: string;
  expected: string;
  line: number;
}

/** A generous limit: it only decides how a failure looks. */
const LIMIT_MS = 120_000;
/** They go on until somebody stops them; the next step comes when they have said what they say. */
const STAYS = /^sallyport (serve|worker)\b/;
/** They change nothing, so they are asked again until what is shown is there: a program takes its time to draw it. */
const LOOKS = /^sallyport (screen|ps|logs)\b/;
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
/** Addresses of the pages' machines and ports, which others may have here. */
const FLEET = "nats://10.0.0.1:4222";
const CONSOLE_PORT = ":4180";

export function stepsOf({ text, line }: Sample): Step[] {
  const steps: Step[] = [];
  for (const [index, each] of text.split("\n").entries()) {
    const [, machine = "", command] = /^([a-z]*)\$ (.*)$/.exec(each) ?? [];
    const last = steps.at(-1);
    if (command !== undefined) steps.push({ machine, command, expected: "", line: line + index + 1 });
    else if (last) last.expected += `${each}\n`;
  }
  return steps;
}

/** `…` is any text, an id any id, a time any time. */
function patternOf(expected: string): RegExp {
  const shown = expected.trimEnd().replaceAll(ID, "…").replaceAll(TIME, "…").replaceAll(CONSOLE_PORT, ":…");
  const escaped = shown.split("…").map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return new RegExp(`^${escaped.join("[\\s\\S]*?")}\\s*$`);
}

/** With nothing shown, nothing may have gone wrong. */
function answers(output: string, expected: string): boolean {
  return expected.trim() === "" ? !/^sallyport: /m.test(output) : patternOf(expected).test(output);
}

/** The machines of one page, each with a home and a workspace of its own, and no state of anybody else's. */
export class Machines {
  readonly #folder = mkdtempSync(join(tmpdir(), "sallyport-transcript-"));
  readonly #bin = join(this.#folder, "bin");
  readonly #names = new Set<string>();
  readonly #staying: ChildProcess[] = [];
  #fleet: NatsServer | null = null;

  constructor() {
    mkdirSync(this.#bin);
    const entry = join(ROOT, "bin", "sallyport.js");
    writeFileSync(join(this.#bin, "sallyport"), `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n`);
    chmodSync(join(this.#bin, "sallyport"), 0o755);
    symlinkSync(join(ROOT, "node_modules/.bin/mcp-inspector"), join(this.#bin, "mcp-inspector"));
  }

  /** What came of a step, if it was not what the page shows; null: it was. */
  async wrong(step: Step): Promise<string | null> {
    const command = await this.#here(step.command);
    const end = Date.now() + LIMIT_MS;
    if (STAYS.test(command)) return this.#stays(step, command, end);
    for (;;) {
      const output = await this.run(step.machine, command);
      if (answers(output, step.expected)) return null;
      if (!LOOKS.test(command) || Date.now() > end) return output;
      await pause(100);
    }
  }

  async #here(command: string): Promise<string> {
    if (command.includes(FLEET)) this.#fleet ??= await NatsServer.start();
    const addressed = command.replace(FLEET, this.#fleet?.url ?? FLEET);
    return addressed === "sallyport serve" ? `${addressed} --listen 0` : addressed;
  }

  async #stays({ machine, expected }: Step, command: string, end: number): Promise<string | null> {
    const child = this.#spawn(machine, `exec ${command}`);
    this.#staying.push(child);
    const output = collected(child);
    while (!answers(output.text, `${expected.trimEnd()}\n…`) && Date.now() < end && child.exitCode === null)
      await pause(20);
    return answers(output.text, expected) ? null : output.text;
  }

  async run(machine: string, command: string): Promise<string> {
    const child = this.#spawn(machine, command);
    const output = collected(child);
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    await once(child, "close");
    clearTimeout(timer);
    return output.text;
  }

  #spawn(machine: string, command: string): ChildProcess {
    const [home, cwd] = [`home${machine}`, `project${machine}`].map((name) => join(this.#folder, name)) as [
      string,
      string,
    ];
    for (const each of [home, cwd]) mkdirSync(each, { recursive: true });
    this.#names.add(machine);
    const PATH = `${this.#bin}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin`;
    const env = { PATH, HOME: home, USER: "ada", LC_ALL: "C.UTF-8" };
    return spawn("bash", ["-c", `exec 2>&1; ${command}`], { cwd, env, stdio: ["ignore", "pipe", "ignore"] });
  }

  async close(): Promise<void> {
    for (const child of this.#staying) {
      const gone = child.exitCode === null ? once(child, "close") : null;
      child.kill("SIGTERM");
      await gone;
    }
    for (const name of this.#names) await this.run(name, "sallyport rm -f $(sallyport ps -aq)");
    await this.#fleet?.close();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

function collected(child: ChildProcess): { text: string } {
  const output = { text: "" };
  child.stdout?.setEncoding("utf8").on("data", (data: string) => {
    output.text += data;
  });
  return output;
}
