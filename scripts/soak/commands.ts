import type { SessionHandle } from "../../src/core/gateway.ts";
import type { Gateway } from "../../src/gateway/gateway.ts";
import type { Journal } from "./journal.ts";
import type { Random } from "./random.ts";

/** The input of a job. Its command appends one line to `ran/TOKEN`, which shows how often it ran. */
export interface Work {
  gateway: Gateway;
  random: Random;
  journal: Journal;
  token: string;
}

export type Command = (work: Work) => Promise<void>;

const LONG_MS = 20_000;
const SHARED_NAMES = ["alpha", "beta", "gamma"] as const;

const mark = (token: string) => `echo x >> ran/${token}`;

/** Waits for a session and notes how it ended, unless it is still running after the timeout. */
async function followUp({ journal, token }: Work, session: SessionHandle, timeoutMs = LONG_MS): Promise<void> {
  const info = await session.wait({ timeoutMs });
  if (info.status === "running") return;
  const bytes = Object.values(info.streams).reduce((sum, stream) => sum + (stream?.bytes ?? 0), 0);
  journal.note({ what: "ended", token, id: info.id, status: info.status, exitCode: info.exitCode, bytes });
}

async function begin(work: Work, request: Parameters<Gateway["start"]>[0]): Promise<SessionHandle> {
  const session = await work.gateway.start(request);
  work.journal.note({ what: "started", token: work.token, id: session.id });
  return session;
}

/** Runs a command to its end and checks its output and exit code. */
async function quick(work: Work, more: object = {}): Promise<void> {
  const { gateway, random, journal, token } = work;
  const code = random.between(0, 3);
  const result = await gateway.run({ command: `${mark(token)}; echo ${token}; exit ${code}`, ...more });
  const { id, status, exitCode, output } = result;
  journal.note({ what: "started", token, id });
  if (status === "running") return;
  journal.note({ what: "ended", token, id, status, exitCode, bytes: Buffer.byteLength(output) });
  if (status === "completed" && (exitCode !== code || output !== `${token}\n`)) {
    journal.note({
      what: "finding",
      text: `${id} ended with ${exitCode} and ${JSON.stringify(output)}, not with ${code}`,
    });
  }
}

async function background(work: Work): Promise<void> {
  const { random, token } = work;
  const command = `${mark(token)}; echo begin; sleep 0.${random.between(0, 9)}; echo end`;
  const session = await begin(work, { command });
  if (random.chance(0.7)) await followUp(work, session);
}

/** Follows a large output to its end and notes its bytes, which the verification looks for in the log. */
async function large(work: Work): Promise<void> {
  const { random, journal, token } = work;
  const bytes = random.between(1, 3_000_000);
  const session = await begin(work, { command: `${mark(token)}; head -c ${bytes} /dev/zero | tr '\\0' x` });
  let seen = 0;
  for await (const chunk of session.follow()) {
    seen += chunk.bytes.length + chunk.dropped;
    const tail = Buffer.from(chunk.bytes).subarray(-16);
    const offset = chunk.offset + chunk.bytes.length - tail.length;
    journal.note({ what: "seen", id: session.id, offset, bytes: tail.toString("hex") });
  }
  const info = await session.wait({ timeoutMs: LONG_MS });
  if (info.status === "completed" && seen !== bytes) {
    journal.note({ what: "finding", text: `${session.id} wrote ${bytes} bytes, but follow() returned ${seen}` });
  }
  await followUp(work, session);
}

async function overdue(work: Work): Promise<void> {
  const { gateway, journal, token } = work;
  const { id, status, exitCode } = await gateway.run({
    command: `${mark(token)}; sleep 60`,
    timeoutMs: 300,
    graceMs: 200,
  });
  journal.note({ what: "started", token, id });
  if (status === "running") return;
  journal.note({ what: "ended", token, id, status, exitCode, bytes: 0 });
  if (status === "completed") journal.note({ what: "finding", text: `${id} outlived its deadline` });
}

async function killed(work: Work): Promise<void> {
  const { random, token } = work;
  const session = await begin(work, { command: `${mark(token)}; sleep 60 & sleep 60; wait` });
  await session.kill({ signal: random.pick(["SIGTERM", "SIGKILL", "SIGINT"]), graceMs: 200 });
  await followUp(work, session);
}

/** Sends keys to a terminal and waits for their echo. Some sessions are left running for other jobs to kill. */
async function terminal(work: Work): Promise<void> {
  const { random, journal, token } = work;
  const session = await begin(work, { command: `${mark(token)}; stty raw -echo; printf ready; exec cat`, pty: true });
  let text = "";
  let wanted = "ready";
  for await (const chunk of session.follow()) {
    journal.note({
      what: "seen",
      id: session.id,
      offset: chunk.offset,
      bytes: Buffer.from(chunk.bytes).toString("hex"),
    });
    text += Buffer.from(chunk.bytes);
    if (text !== wanted) continue;
    if (wanted.length > 40) break;
    const keys = "abcdefghij".slice(0, random.between(1, 10));
    wanted += keys;
    await session.write(keys);
  }
  if (random.chance(0.2)) return;
  await session.kill({ signal: "SIGKILL" });
  await followUp(work, session);
}

/** Starts three sessions with the same name at once; at most one may get it. */
async function sameName(work: Work): Promise<void> {
  const { random, gateway, journal, token } = work;
  const name = random.pick(SHARED_NAMES);
  const request = { command: `${mark(token)}; sleep 2`, name };
  const started = await Promise.allSettled([1, 2, 3].map(() => gateway.start(request)));
  const got = started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  for (const session of got) journal.note({ what: "started", token, id: session.id });
  if (got.length > 1) journal.note({ what: "finding", text: `${got.length} running sessions have the name ${name}` });
  for (const session of got) await session.kill({ signal: "SIGKILL" });
  const failure = started.find((each) => each.status === "rejected");
  if (failure?.status === "rejected") throw failure.reason;
}

/** Starts more processes than the limit allows. */
async function crowd(work: Work): Promise<void> {
  const many = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 5 & done; wait";
  const session = await begin(work, {
    command: `${mark(work.token)}; ${many}`,
    limits: { processes: 8 },
    timeoutMs: 1000,
  });
  await followUp(work, session);
}

/** Reads a session that another job started, and sometimes kills it. */
async function others(work: Work): Promise<void> {
  const { gateway, random } = work;
  const live = gateway.list({ live: true });
  const chosen = live[Math.floor(random.next() * live.length)];
  if (!chosen) return;
  const session = gateway.session(chosen.id);
  await session.logs({ tail: 5 });
  if (chosen.pty) await session.screen();
  if (random.chance(0.3)) await session.kill({ signal: "SIGKILL" });
}

export const COMMANDS: Record<string, Command> = {
  quick,
  asked: (work) => quick(work, { ask: "always" }),
  confined: (work) => quick(work, { sandbox: "workspace-write" }),
  background,
  large,
  overdue,
  killed,
  terminal,
  sameName,
  crowd,
  others,
};
