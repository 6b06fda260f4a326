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

/** Generous: it only decides how long it takes to say that something is left. */
const PATIENCE_MS = 60_000;
const ASK_AGAIN_MS = 2000;

/** Holds what gateways were told against what is there, once everything has come to its end. */
export async function verify(
  environment: SoakEnvironment,
  faults: Faults,
  patienceMs = PATIENCE_MS,
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
      else findings.push(`${id} was acknowledged, and nobody knows of it any more`);
    }
    findings.push(...commandsAccountedFor(environment, infos, pick("started"), pick("ended"), faults));
    findings.push(...bytesPresent(environment, pick("seen")));
    findings.push(...(await atLast(() => nothingLeaked(environment, gateway), patienceMs)));
    const { entries: auditEntries, broken } = gateway.audit.verify();
    if (broken) findings.push(`the audit is broken at ${broken.seq}: ${broken.why}`);
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
    findings.push(...(await nobodyLeft(environment, [...ids], patienceMs)));
    const opened = () => readdirSync("/proc/self/fd").length - descriptors;
    const more = () => (opened() > 0 ? [`${opened()} descriptors more are open than before`] : []);
    findings.push(...(await atLast(more, patienceMs)));
  }
}

/** What is still found when it had its time to go. */
async function atLast(look: () => string[], patienceMs: number): Promise<string[]> {
  await until("nothing is found", () => look().length === 0, patienceMs).catch(() => {});
  return look();
}

async function endAll(gateway: Gateway, findings: string[]): Promise<void> {
  for (const { id } of gateway.list({ live: true, limit: 100_000 })) {
    const session = gateway.session(id);
    let why = "";
    // It may have ended by itself, or be in nobody's hands yet, which is told with the advice to try again.
    const ended = async () => {
      await session.kill({ signal: "SIGKILL" }).catch((error: Error) => {
        why = error.message;
      });
      return (await session.wait({ timeoutMs: ASK_AGAIN_MS })).status !== "running";
    };
    await until("it has ended", ended, PATIENCE_MS).catch(() => findings.push(`${id} cannot be ended: ${why}`));
  }
}

function infoOf(gateway: Gateway, id: string): SessionInfo | null {
  try {
    return gateway.session(id).info();
  } catch {
    return null;
  }
}

/** Nothing runs twice, what was said to have ended stays as it was said, and only a killed keeper loses a command. */
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
      findings.push(`${id} was said to be ${status} (${exitCode}) and is now ${now.status} (${now.exitCode})`);
    }
  }
  const ran = new Map<string, number>();
  for (const name of readdirSync(join(environment.workspace, "ran"))) {
    ran.set(name, readFileSync(join(environment.workspace, "ran", name), "utf8").split("\n").length - 1);
  }
  for (const [token, times] of ran) if (times > 1) findings.push(`the command of ${token} ran ${times} times`);
  for (const { id, token } of started) {
    if (infos.get(id)?.status === "completed" && !ran.has(token)) findings.push(`${id} is completed and never ran`);
    if (infos.get(id)?.status === "running") findings.push(`${id} is still running`);
  }
  const lost = [...infos.values()].filter(({ status }) => status === "lost").length;
  if (lost > faults.keepers) findings.push(`${lost} sessions are lost, and only ${faults.keepers} keepers were killed`);
  return findings;
}

/** What was handed out to a follower is in the log, at the same place. */
function bytesPresent(environment: SoakEnvironment, seen: Of<"seen">[]): string[] {
  const findings: string[] = [];
  for (const { id, offset, bytes } of seen) {
    const folder = join(environment.state, "sessions", id);
    const file = ["output", "stdout"].map((name) => join(folder, name)).find(existsSync);
    const wanted = Buffer.from(bytes, "hex");
    if (!file || !readPart(file, offset, wanted.length).equals(wanted)) {
      findings.push(`${wanted.length} bytes of ${id} that were followed at ${offset} are not in its log`);
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

/** A session that has ended keeps its output and its record, and nothing else. */
function nothingLeaked(environment: SoakEnvironment, gateway: Gateway): string[] {
  const findings: string[] = [];
  const kept = new Set(["stdout", "stderr", "output", "timeline", "sizes", "screen", "exit", "forgone"]);
  const sessions = join(environment.state, "sessions");
  for (const id of existsSync(sessions) ? readdirSync(sessions) : []) {
    const info = infoOf(gateway, id);
    if (!info) findings.push(`the folder of ${id} belongs to no session`);
    const left = readdirSync(join(sessions, id)).filter((name) => !kept.has(name));
    if (left.length > 0) findings.push(`${id} (${info?.status}) has left ${left.join(", ")}`);
  }
  return findings;
}

/** The memory and the descriptors of a gateway that lived long enough to tell. */
function flat(samples: Of<"sample">[]): string[] {
  const findings: string[] = [];
  for (const [pid, each] of Map.groupBy(samples, ({ pid }) => pid)) {
    if (each.length < 60) continue;
    const third = Math.floor(each.length / 3);
    const middle = (part: Of<"sample">[], of: (sample: Of<"sample">) => number) =>
      part.map(of).sort((a, b) => a - b)[Math.floor(part.length / 2)] ?? 0;
    const [early, late] = [each.slice(third, 2 * third), each.slice(2 * third)];
    const [before, after] = [early, late].map((part) => middle(part, ({ rss }) => rss)) as [number, number];
    if (after > before * 1.25 + 32 * 2 ** 20) findings.push(`the gateway ${pid} grew from ${before} to ${after} bytes`);
    const [fewer, more] = [early, late].map((part) => middle(part, (sample) => sample.descriptors)) as [number, number];
    if (more > fewer + 40) findings.push(`the gateway ${pid} went from ${fewer} to ${more} open descriptors`);
  }
  return findings;
}

async function nobodyLeft(environment: SoakEnvironment, ids: string[], patienceMs: number): Promise<string[]> {
  const findings: string[] = [];
  const orphans = () => environment.alive();
  await until("no process is left", () => orphans().length === 0, patienceMs).catch(() => {
    for (const pid of orphans()) {
      findings.push(`process ${pid} is left: ${allProcesses().find((each) => each.pid === pid)?.title}`);
      send(pid, "SIGKILL");
    }
  });
  for (const zygote of zygotesOf(environment.state)) {
    const below = () => descendantsOf(zygote);
    await until("no zombie is left", () => below().every(({ state }) => state !== "Z"), patienceMs).catch(() => {
      findings.push(`${below().filter(({ state }) => state === "Z").length} zombies are left under the zygote`);
    });
    const keepers = below().map(({ pid }) => pid);
    send(zygote, "SIGTERM");
    const left = until("the zygote has left", () => !isRunning(zygote), patienceMs);
    await left.catch(() => findings.push("the zygote stays"));
    for (const pid of keepers.filter(exists)) findings.push(`the keeper ${pid} is left`);
  }
  const groups = () => ids.flatMap(groupsOf).map((group) => `the cgroup ${group} is left`);
  return [...findings, ...(await atLast(groups, patienceMs))];
}

function tally(words: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words.sort()) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
