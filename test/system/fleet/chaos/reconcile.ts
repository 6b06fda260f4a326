/** Compares the reported outcome of each command with the traces of the commands that actually ran. */
import { jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { connect } from "@nats-io/transport-node";
import { sessionKey, storeNames } from "../../../../src/fleet/subjects.ts";
import { until } from "../../../fixtures/until.ts";
import type { ChaosFixture } from "./fixture.ts";
import { outputOf, type Sent, tokenIn, traces } from "./load.ts";
import type { Member } from "./member.ts";

const READ_AT_ONCE = 32;
const MOST_READS = 5;
const MOST_IN_VAIN = 64;

interface Row {
  id: string;
  command: string;
  status: string;
  exitCode: number | null;
  background: boolean;
  host: string | null;
  why: string | null;
}

export interface Account {
  sent: number;
  /** The number of sessions by status, as reported by the gateways. */
  statuses: Record<string, number>;
  /** The number of sessions by error message. */
  reasons: Record<string, number>;
  /** Commands whose gateway was killed before it recorded them. They must not have run. */
  neverRecorded: number;
  outputsRead: number;
  /** Sessions of workers that were lost before their logs were archived. */
  outputsLost: number;
  exitsInStream: number;
  callbacks: number;
  /** Violations of the guarantees. The test passes only when the list is empty. */
  wrong: string[];
}

/** Waits until every session has ended according to its gateway. */
export async function settled(fixture: ChaosFixture, limitMs: number): Promise<void> {
  await until(
    "every session has ended",
    async () => {
      const live = await Promise.all(
        fixture.gateways.map((gateway) => gateway.ask<number>({ call: "live" }).catch(() => 1)),
      );
      return live.every((count) => count === 0);
    },
    limitMs,
  );
}

export async function reconcile(fixture: ChaosFixture, commands: Sent[], hosts: readonly string[]): Promise<Account> {
  const ran = traces(hosts.map((name) => fixture.workspacesOf(name)));
  const byToken = new Map(commands.map((command) => [command.token, command]));
  const account: Account = {
    sent: commands.length,
    statuses: {},
    reasons: {},
    neverRecorded: 0,
    outputsRead: 0,
    outputsLost: 0,
    exitsInStream: 0,
    callbacks: 0,
    wrong: [],
  };
  const recorded = new Set<string>();
  const reading: Promise<void>[] = [];
  const background = new Set<string>();
  for (const gateway of fixture.gateways) {
    const rows = await gateway.ask<Row[]>({ call: "sessions" });
    const callbacks = new Set(await gateway.ask<string[]>({ call: "callbacks" }));
    for (const row of rows) {
      const command = byToken.get(tokenIn(row.command) ?? "");
      if (!command) continue;
      if (recorded.has(command.token)) account.wrong.push(`${command.token} has two rows`);
      recorded.add(command.token);
      account.statuses[row.status] = (account.statuses[row.status] ?? 0) + 1;
      if (row.why !== null) account.reasons[row.why] = (account.reasons[row.why] ?? 0) + 1;
      checkRow(row, command, ran.get(command.token) ?? 0, account);
      if (row.status === "completed") {
        reading.push(checkOutput(fixture, gateway, row, command, account));
        if (reading.length === READ_AT_ONCE) await Promise.all(reading.splice(0));
      }
      if (row.background) {
        background.add(row.id);
        if (!callbacks.has(`exec_callback:${row.id}`)) account.wrong.push(`${row.id} ${row.status}: no callback`);
      }
    }
    account.callbacks += callbacks.size;
  }
  await Promise.all(reading);
  for (const command of commands) {
    if (recorded.has(command.token)) continue;
    account.neverRecorded++;
    if (ran.has(command.token)) account.wrong.push(`${command.token} ran without a record`);
    if (command.id !== null) account.wrong.push(`${command.token} was answered as ${command.id} but is not recorded`);
  }
  for (const token of ran.keys()) if (!byToken.has(token)) account.wrong.push(`${token} ran and was never sent`);
  await checkExits(fixture, background, account);
  return account;
}

async function checkOutput(
  fixture: ChaosFixture,
  gateway: Member,
  row: Row,
  command: Sent,
  account: Account,
): Promise<void> {
  const host = row.host ?? (await registeredHost(fixture, row.id));
  const isLost = fixture.lost.some(({ name }) => name === host);
  // Each of these reads waits for a timeout, so only a few are checked.
  if (isLost && account.outputsLost >= MOST_IN_VAIN) {
    account.outputsLost++;
    return;
  }
  try {
    const output = await outputFrom(gateway, row.id, isLost ? 1 : MOST_READS);
    account.outputsRead++;
    if (output !== outputOf(command)) {
      account.wrong.push(`${command.token} ${row.id}: output ${JSON.stringify(output.slice(0, 200))}`);
    }
  } catch (error) {
    if (isLost) account.outputsLost++;
    else account.wrong.push(`${command.token} ${row.id}: no output: ${(error as Error).message}`);
  }
}

/** Reads the output, and retries when the error says so: a busy worker may respond late. */
async function outputFrom(gateway: Member, id: string, tries: number): Promise<string> {
  try {
    return await gateway.ask<string>({ call: "output", id });
  } catch (error) {
    const { type = "" } = error as { type?: string };
    if (tries <= 1 || !["HostSilent", "FleetUnreachable"].includes(type)) throw error;
    return outputFrom(gateway, id, tries - 1);
  }
}

async function registeredHost(fixture: ChaosFixture, id: string): Promise<string | null> {
  const connection = await connect({ servers: fixture.cluster.urls });
  try {
    const bucket = await new Kvm(connection).open(storeNames("main").sessions);
    return (await bucket.get(sessionKey("default", id)))?.json<{ host: string | null }>().host ?? null;
  } finally {
    await connection.close();
  }
}

function checkRow({ id, status, exitCode }: Row, { token }: Sent, times: number, { wrong }: Account): void {
  const say = (what: string) => wrong.push(`${token} ${id}: ${what}`);
  if (times > 1) say(`ran ${times} times, reported ${status}`);
  if (status === "completed" && times !== 1) say(`reported completed, ran ${times} times`);
  if (status === "completed" && exitCode !== 0) say(`exit code ${exitCode}`);
  if (status === "running") say("has not ended");
  // A lost command may have run. A failed command must not have run.
  if (status === "failed" && times !== 0) say("reported failed, but ran");
  if (!["completed", "lost", "failed", "running"].includes(status)) say(`reported ${status}`);
}

async function checkExits(fixture: ChaosFixture, background: Set<string>, account: Account): Promise<void> {
  const connection = await connect({ servers: fixture.cluster.urls });
  try {
    const manager = await jetstreamManager(connection);
    const { state } = await manager.streams.info(storeNames("main").exits, { subjects_filter: ">" });
    const seen = new Map<string, number>();
    for (const [subject, count] of Object.entries(state.subjects ?? {})) {
      const id = subject.slice(subject.lastIndexOf(".") + 1);
      seen.set(id, (seen.get(id) ?? 0) + count);
    }
    account.exitsInStream = state.messages;
    for (const [id, count] of seen) if (count !== 1) account.wrong.push(`${id} is in the exit stream ${count} times`);
    for (const id of background) if (!seen.has(id)) account.wrong.push(`${id} is not in the exit stream`);
    for (const id of seen.keys())
      if (!background.has(id)) account.wrong.push(`${id} is in the exit stream, but no gateway has recorded it`);
  } finally {
    await connection.close();
  }
}
