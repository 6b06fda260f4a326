/** The faults that the chaos test injects one after another. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ChaosFixture } from "./fixture.ts";
import type { Member } from "./member.ts";

type Fault = (fixture: ChaosFixture, pick: <T>(items: readonly T[]) => T) => Promise<void>;

/** Longer than the lifetime of a heartbeat, so that a worker is considered lost and then returns. */
const LONG_MS = 14_000;
const SHORT_MS = 1500;
/** The pause between two faults. */
const PEACE_MS = 500;

async function bounce(member: Member, downMs: number): Promise<void> {
  await member.kill();
  await sleep(downMs);
  member.start();
  await member.started();
}

async function cutOff(member: Member, ms: number): Promise<void> {
  member.line.cut();
  await sleep(ms);
  member.line.heal();
}

export const FAULTS: Record<string, Fault> = {
  "kill -9 of a worker": (fixture, pick) => bounce(pick(fixture.workers), SHORT_MS),
  "kill -9 of a gateway": (fixture, pick) => bounce(pick(fixture.gateways), SHORT_MS),
  "kill -9 of one server of three": async (fixture, pick) => {
    const server = pick(fixture.cluster.servers);
    await server.kill();
    await sleep(2 * SHORT_MS);
    await server.start();
    await fixture.cluster.ready();
  },
  "short network partition of a worker": (fixture, pick) => cutOff(pick(fixture.workers), SHORT_MS),
  "long network partition of a worker": (fixture, pick) => cutOff(pick(fixture.workers), LONG_MS),
  "network partition of a gateway": (fixture, pick) => cutOff(pick(fixture.gateways), 3 * SHORT_MS),
  "slow connection": async (fixture, pick) => {
    const { line } = pick([...fixture.workers, ...fixture.gateways]);
    line.slow();
    await sleep(4 * SHORT_MS);
    line.heal();
  },
  "worker frozen until it is considered lost": async (fixture, pick) => {
    const worker = pick(fixture.workers);
    worker.freeze();
    await sleep(LONG_MS);
    worker.thaw();
  },
  "worker lost permanently and replaced": async (fixture, pick) => {
    if (fixture.workers.length < 2) return;
    await fixture.lose(pick(fixture.workers));
    const worker = await fixture.addWorker(`n${Date.now() % 1_000_000}`);
    await worker.started();
  },
};

/** Injects the named faults in random order until `isOver` returns true. Each fault is repaired before the next one. */
export async function breakThings(
  fixture: ChaosFixture,
  names: readonly string[],
  isOver: () => boolean,
  onFault: (name: string) => void,
): Promise<Map<string, number>> {
  const done = new Map<string, number>();
  const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T;
  let bag: string[] = [];
  while (!isOver()) {
    if (bag.length === 0) bag = [...names].sort(() => Math.random() - 0.5);
    const name = bag.pop() as string;
    onFault(name);
    await FAULTS[name]?.(fixture, pick);
    done.set(name, (done.get(name) ?? 0) + 1);
    await sleep(PEACE_MS);
  }
  return done;
}
