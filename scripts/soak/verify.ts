import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import type { SessionInfo } from "../../src/core/session.ts";
import type { Gateway } from "../../src/gateway/gateway.ts";
import { openGateway } from "../../src/gateway/open.ts";
import { groupsOf } from "../../test/fixtures/cgroups.ts";
import { allProcesses, descendantsOf, exists, isRunning, send, zygotesOf } from "../../test/fixtures/processes.ts";
import { until } from "../../test/fixtures/until.ts";
import type { SoakEnvironment } from "./environment.ts";
import type { Faults } from "./faults.ts";
import { type Entry, readJournals } from "./journal.ts";

type Of<W extends Entry["what"]> = Extract<Entry, { what: W }>;

export interface Verification {
  sessions: number;
  statuses: Record<string, number>;
  refusals: Record<string, number>;
  auditEntries: number;
  findings: string[];
}

/** The time limit for each wait. It is generous, because it only affects how long a failing run takes. */
const TIMEOUT_MS = 60_000;
const RETRY_MS = 2000;

/** Compares the journals of the gateways with the state folder after all sessions have ended. */
export async function verify(
  environment: SoakEnvironment,
  faults: Faults,
  timeoutMs = TIMEOUT_MS,
): Promise<Verification> {
  const entries = readJournals(environment.journals);
  const pick = <W extends Entry["what"]>(what: W) => entries.filter((entry): entry is Of<W> => entry.what === what);
  const findings = pick("finding").map(({ text }) => text);
  const descriptors = readdirSync("/proc/self/fd").length;
  const gateway = await openGateway({
    state: environment.state,
    workspace: environment.workspace,
    configuration: null,
  });
  const ids = new Set([...pick("started"), ...pick("ended")].map(({ id }) => id));
  const infos = new Map<string, SessionInfo>();
  try {
    await endAll(gateway, findings);
    for (const id of ids) {
      const info = infoOf(gateway, id);
      if (info) infos.set(id, info);
      else findings.push(`${id} was acknowledged but is not listed any more`);
    }
    findings.push(...commandsAccountedFor(environment, infos, pick("started"), pick("ended"), faults));
    findings.push(...bytesPresent(environment, pick("seen")));
    findings.push(...(await atLast(() => nothingLeaked(environment, gateway), timeoutMs)));
    const { entries: auditEntries, broken } = gateway.audit.verify();
    if (broken) findings.push(`the audit chain is broken at entry ${broken.seq}: ${broken.why}`);
    findings.push(...flat(pick("sample")));
    return {
      sessions: gateway.count(),
      statuses: tally([...infos.values()].map(({ status }) => status)),
      refusals: tally(pick("refused").map(({ type }) => type)),
      auditEntries,
      findings,
    };
  } finally {
    await gateway.close();
    findings.push(...(await remaining(environment, [...ids], timeoutMs)));
    const opened = () => readdirSync("/proc/self/fd").length - descriptors;
    const more = () => (opened() > 0 ? [`${opened()} more descriptors are open than before`] : []);
    findings.push(...(await atLast(more, timeoutMs)));
  }
}

/** Repeats a check until it has no findings or the time is up, and returns its last findings. */
async function atLast(check: () => string[], timeoutMs: number): Promise<string[]> {
  await until("there are no findings", () => check().length === 0, timeoutMs).catch(() => {});
  return check();
}

async function endAll(gateway: Gateway, findings: string[]): Promise<void> {
  for (const { id } of gateway.list({ live: true, limit: 100_000 })) {
    const session = gateway.session(id);
    let why = "";
    // Killing fails if the session has already ended, or if it has no keeper yet; the error then says to try again.
    const ended = async () => {
      await session.kill({ signal: "SIGKILL" }).catch((error: Error) => {
        why = error.message;
      });
      return (await session.wait({ timeoutMs: RETRY_MS })).status !== "running";
    };
    await until("the session has ended", ended, TIMEOUT_MS).catch(() =>
      findings.push(`${id} cannot be killed: ${why}`),
    );
  }
}

function infoOf(gateway: Gateway, id: string): SessionInfo | null {
  try {
    return gateway.session(id).info();
  } catch {
    return null;
  }
}

/** Checks that no command ran twice, that reported results did not change, and that only killed keepers lost a command. */
function commandsAccountedFor(
  environment: SoakEnvironment,
  infos: Map<string, SessionInfo>,
  started: Of<"started">[],
  ended: Of<"ended">[],
  faults: Faults,
): string[] {
  const findings: string[] = [];
  for (const { id, status, exitCode } of ended) {
    const now = infos.get(id);
    if (now && (now.status !== status || now.exitCode !== exitCode)) {
      findings.push(`${id} was reported as ${status} (${exitCode}) but is now ${now.status} (${now.exitCode})`);
    }
  }
  const ran = new Map<string, number>();
  for (const name of readdirSync(join(environment.workspace, "ran"))) {
    ran.set(name, readFileSync(join(environment.workspace, "ran", name), "utf8").split("\n").length - 1);
  }
  for (const [token, times] of ran) if (times > 1) findings.push(`the command of ${token} ran ${times} times`);
  for (const { id, token } of started) {
    if (infos.get(id)?.status === "completed" && !ran.has(token)) findings.push(`${id} is completed but never ran`);
    if (infos.get(id)?.status === "running") findings.push(`${id} is still running`);
  }
  const lost = [...infos.values()].filter(({ status }) => status === "lost").length;
  if (lost > faults.keepers) findings.push(`${lost} sessions are lost, but only ${faults.keepers} keepers were killed`);
  return findings;
}

/** Checks that the bytes returned by `follow()` are in the log at the same offset. */
function bytesPresent(environment: SoakEnvironment, seen: Of<"seen">[]): string[] {
  const findings: string[] = [];
  for (const { id, offset, bytes } of seen) {
    const folder = join(environment.state, "sessions", id);
    const file = ["output", "stdout"].map((name) => join(folder, name)).find(existsSync);
    const wanted = Buffer.from(bytes, "hex");
    if (!file || !readPart(file, offset, wanted.length).equals(wanted)) {
      findings.push(`${wanted.length} bytes of ${id} that follow() returned at offset ${offset} are not in its log`);
    }
  }
  return findings;
}

function readPart(path: string, offset: number, length: number): Buffer {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
  } finally {
    closeSync(file);
  }
}

/** Checks that an ended session has only its output and its exit record on disk. */
function nothingLeaked(environment: SoakEnvironment, gateway: Gateway): string[] {
  const findings: string[] = [];
  const kept = new Set(["stdout", "stderr", "output", "timeline", "sizes", "screen", "exit", "forgone"]);
  const sessions = join(environment.state, "sessions");
  for (const id of existsSync(sessions) ? readdirSync(sessions) : []) {
    const info = infoOf(gateway, id);
    if (!info) findings.push(`the folder ${id} belongs to no session`);
    const left = readdirSync(join(sessions, id)).filter((name) => !kept.has(name));
    if (left.length > 0) findings.push(`${id} (${info?.status}) has left the files ${left.join(", ")}`);
  }
  return findings;
}

/** Checks that memory and descriptors did not grow in the gateways that ran long enough to compare. */
function flat(samples: Of<"sample">[]): string[] {
  const findings: string[] = [];
  for (const [pid, each] of Map.groupBy(samples, ({ pid }) => pid)) {
    if (each.length < 60) continue;
    const third = Math.floor(each.length / 3);
    const middle = (part: Of<"sample">[], of: (sample: Of<"sample">) => number) =>
      part.map(of).sort((a, b) => a - b)[Math.floor(part.length / 2)] ?? 0;
    const [early, late] = [each.slice(third, 2 * third), each.slice(2 * third)];
    const [before, after] = [early, late].map((part) => middle(part, ({ rss }) => rss)) as [number, number];
    if (after > before * 1.25 + 32 * 2 ** 20)
      findings.push(`gateway ${pid} grew from ${before} to ${after} bytes of memory`);
    const [fewer, more] = [early, late].map((part) => middle(part, (sample) => sample.descriptors)) as [number, number];
    if (more > fewer + 40) findings.push(`gateway ${pid} grew from ${fewer} to ${more} open descriptors`);
  }
  return findings;
}

/** Checks that no process, zombie or cgroup remains. */
async function remaining(environment: SoakEnvironment, ids: string[], timeoutMs: number): Promise<string[]> {
  const findings: string[] = [];
  const orphans = () => environment.alive();
  await until("no process remains", () => orphans().length === 0, timeoutMs).catch(() => {
    for (const pid of orphans()) {
      findings.push(`process ${pid} still runs: ${allProcesses().find((each) => each.pid === pid)?.title}`);
      send(pid, "SIGKILL");
    }
  });
  for (const zygote of zygotesOf(environment.state)) {
    const below = () => descendantsOf(zygote);
    await until("no zombie remains", () => below().every(({ state }) => state !== "Z"), timeoutMs).catch(() => {
      findings.push(`${below().filter(({ state }) => state === "Z").length} zombies remain below the zygote`);
    });
    const keepers = below().map(({ pid }) => pid);
    send(zygote, "SIGTERM");
    const exited = until("the zygote has exited", () => !isRunning(zygote), timeoutMs);
    await exited.catch(() => findings.push("the zygote did not exit"));
    for (const pid of keepers.filter(exists)) findings.push(`keeper ${pid} still runs`);
  }
  const groups = () => ids.flatMap(groupsOf).map((group) => `cgroup ${group} was not removed`);
  return [...findings, ...(await atLast(groups, timeoutMs))];
}

function tally(words: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words.sort()) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
