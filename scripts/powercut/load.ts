/** Keeps one gateway busy, and writes down everything that it acknowledges. Runs until it is killed. */
import { setTimeout as sleep } from "node:timers/promises";
import { openGateway } from "../../src/gateway/open.ts";
import { Random } from "../soak/random.ts";
import { commandText, Journal, outputText } from "./acknowledged.ts";

export interface LoadOptions {
  state: string;
  workspace: string;
  journal: string;
  durability: "process" | "power-loss";
  seed: number;
}

const { state, workspace, journal, durability, seed } = JSON.parse(process.argv[2] ?? "") as LoadOptions;
const random = new Random(seed);
const acknowledged = new Journal(journal);
const gateway = await openGateway({
  state,
  workspace,
  durability,
  configuration: null,
  policy: { scope: "anywhere", sandbox: "off", limits: { sessions: 10_000, startsPerMinute: 1_000_000 } },
  approve: async () => ({ decision: "once", who: "powercut" }),
});

async function foreground(): Promise<void> {
  const [lines, code] = [random.between(0, 40), random.between(0, 3)];
  const { id, exitCode, stdout } = await gateway.run({ command: commandText(lines, code) });
  if (stdout !== outputText(lines)) throw new Error(`unexpected output of ${id}`);
  acknowledged.note({ what: "ended", id, lines, exitCode, bytes: stdout.length });
}

async function background(): Promise<void> {
  const [lines, code] = [random.between(50, 600), random.between(0, 3)];
  const session = await gateway.start({ command: commandText(lines, code) });
  const { id } = session;
  acknowledged.note({ what: "started", id, lines });
  for (let polls = random.between(0, 4); polls > 0; polls--) {
    await sleep(random.between(1, 60));
    const { text } = await session.logs();
    acknowledged.note({ what: "read", id, bytes: text.length });
  }
  const { exitCode, streams } = await session.wait();
  acknowledged.note({ what: "ended", id, lines, exitCode, bytes: streams.stdout?.bytes ?? 0 });
  const item = gateway.work.list({ limit: 200 }).find(({ key }) => key.includes(id));
  if (item) acknowledged.note({ what: "work", key: item.key });
}

async function repeat(): Promise<never> {
  for (;;) {
    await (random.chance(0.7) ? foreground() : background());
    const [entry] = gateway.audit.tail(1);
    if (entry) acknowledged.note({ what: "audit", seq: entry.seq, hash: entry.hash });
    await sleep(random.between(0, 30));
  }
}

process.stdout.write("ready\n");
await Promise.all([repeat(), repeat(), repeat()]);
