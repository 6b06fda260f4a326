/**
 * `npm run bench -- --peers behavior`: compares how Sallyport and its peers behave in situations that have caused
 * problems in practice. There are no targets.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { BenchResult } from "../result.ts";
import { type Place, type Subject, subjects } from "./subjects.ts";

const PATIENCE_MS = 5000;
/** The time that killed processes have to exit. */
const SETTLE_MS = 1500;
const SECRET = "not a key";
let lastMark = 86_400 + (process.pid % 10_000) * 10;

/** Returns a `sleep` command with a unique duration, so that its process can be found later. */
function marked(): { sleep: string; alive(): number[] } {
  const sleep = `sleep ${++lastMark}`;
  const line = `${sleep.replace(" ", "\0")}\0`;
  const alive = () => readdirSync("/proc").filter((name) => /^\d+$/.test(name) && commandLine(name) === line);
  return { sleep, alive: () => alive().map(Number) };
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function end(pids: number[]): void {
  for (const pid of pids) process.kill(pid, "SIGKILL");
}

async function within(ms: number, done: Promise<unknown>): Promise<boolean> {
  return Promise.race([done.then(() => true), pause(ms, false)]);
}

/** Checks whether a command returns and leaves no process behind if its background process keeps the output open. */
async function leavesNothing(subject: Subject): Promise<string> {
  const { sleep, alive } = marked();
  const { ended, kill } = await subject.start(`${sleep} & echo done`);
  const answered = await within(PATIENCE_MS, ended);
  await pause(SETTLE_MS);
  const left = alive();
  if (!answered) await kill();
  end(alive());
  return answered ? (left.length === 0 ? "yes" : "returns, but leaves the process running") : "does not return";
}

async function killsAll(subject: Subject): Promise<string> {
  const { sleep, alive } = marked();
  const { kill } = await subject.start(`setsid ${sleep} & ${sleep}`);
  for (let waited = 0; alive().length < 2 && waited < PATIENCE_MS; waited += 50) await pause(50);
  const before = alive().length;
  await kill();
  await pause(SETTLE_MS);
  const left = alive();
  end(left);
  if (before < 2) return "could not be tested";
  return left.length === 0 ? "yes" : `${left.length} of ${before} survive`;
}

async function stopsWriting(subject: Subject, { home }: Place): Promise<string> {
  const file = join(home, "written");
  await over(subject, `echo x > ${file}`);
  const written = existsSync(file);
  rmSync(file, { force: true });
  return written ? "no" : "yes";
}

async function stopsReading(subject: Subject, { home }: Place): Promise<string> {
  const output = await over(subject, `echo it ran; cat ${home}/.ssh/id_ed25519`);
  if (!output.includes("it ran")) return "could not be tested";
  return output.includes(SECRET) ? "no" : "yes";
}

async function over(subject: Subject, text: string): Promise<string> {
  const { ended } = await subject.start(text);
  return Promise.race([ended, pause(PATIENCE_MS, "")]);
}

const CHECKS = {
  "`sleep & echo done` returns and leaves no process behind": leavesNothing,
  "killing a command also kills a `setsid` grandchild": killsAll,
  "keeps a command from writing outside the workspace": stopsWriting,
  "keeps a command from reading `~/.ssh`": stopsReading,
};

export async function run(): Promise<BenchResult[]> {
  const folder = mkdtempSync("/var/tmp/sallyport-bench-");
  const place = { workspace: join(folder, "workspace"), home: join(folder, "home") };
  mkdirSync(place.workspace);
  mkdirSync(join(place.home, ".ssh"), { recursive: true });
  writeFileSync(join(place.home, ".ssh", "id_ed25519"), `${SECRET}\n`);
  process.env.HOME = place.home;
  const all = await subjects(place);
  const rows = [["tool", ...Object.keys(CHECKS)], Array.from({ length: Object.keys(CHECKS).length + 1 }, () => "---")];
  try {
    for (const subject of all) {
      const answers = [];
      for (const check of Object.values(CHECKS)) answers.push(await check(subject, place));
      rows.push([subject.name, ...answers]);
    }
  } finally {
    for (const subject of all) await subject.leave();
    rmSync(folder, { recursive: true, force: true });
  }
  process.stdout.write(`${rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n\n`);
  return [];
}
