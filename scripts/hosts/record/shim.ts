import { spawn } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** One thing that passed between a host and a `sallyport` process. */
export interface Recorded {
  /** The process, of which a host may start several. */
  pid: number;
  /** The start of the process: its arguments, and the variables by which it recognizes a host. */
  args?: string[];
  env?: Record<string, string>;
  /** A line of text, under the name of its sender. */
  host?: string;
  sallyport?: string;
}

const MARKS = ["CLAUDECODE", "GEMINI_CLI", "QWEN_CODE", "OPENCODE", "COPILOT_CLI"];

/** Writes a program that runs `entry` with the same arguments and adds everything that passes to `log`. */
export function writeShim(file: string, entry: string, log: string): void {
  const values = [entry, log].map((value) => JSON.stringify(value)).join(", ");
  writeFileSync(file, `import { record } from ${JSON.stringify(import.meta.url)};\nawait record(${values});\n`);
}

/** Runs `entry` between the host and us. */
export async function record(entry: string, log: string): Promise<void> {
  const args = process.argv.slice(2);
  const add = (recorded: Omit<Recorded, "pid">) =>
    appendFileSync(log, `${JSON.stringify({ pid: process.pid, ...recorded })}\n`);
  const env = Object.entries(process.env).filter(([name]) => MARKS.includes(name)) as [string, string][];
  add({ args, env: Object.fromEntries(env) });
  const child = spawn(process.execPath, [entry, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  process.stdin.pipe(child.stdin);
  child.stdin.on("error", () => {});
  child.stdout.pipe(process.stdout);
  createInterface({ input: process.stdin }).on("line", (host) => add({ host }));
  createInterface({ input: child.stdout }).on("line", (sallyport) => add({ sallyport }));
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => child.kill(signal));
  process.exitCode = await new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 1)));
}
