import type { Gateway } from "../../src/index.ts";
import { atMost, percentile, shuffled } from "../measure.ts";
import type { BenchResult } from "../result.ts";
import { rawPty } from "./node-pty.ts";
import { openRelay } from "./relay.ts";

/** A program that echoes each byte as soon as it has read it, like a full-screen program. */
const ECHO = "stty raw -echo; printf ready; exec cat";

/** A terminal under test. */
interface Keyboard {
  /** Sends a key and resolves when its echo arrives. `settled` resolves when all work for the key is done. */
  press(): Promise<{ settled?: Promise<void> }>;
  stop(): Promise<void> | void;
}

/** Measures the time from sending a key to receiving its echo, both in this process. */
export async function keyToEcho(gateway: Gateway, rounds: number): Promise<BenchResult[]> {
  const relay = await openRelay(ECHO);
  const raw = rawPty(ECHO);
  const keyboards = await Promise.all([ofSession(gateway), ofEvents(raw, raw.kill), ofEvents(relay, relay.stop)]);
  try {
    const samples = keyboards.map(() => [] as number[]);
    for (let round = 0; round < rounds; round++) {
      for (const [index, keyboard] of shuffled([...keyboards.entries()])) {
        const from = performance.now();
        const { settled } = await keyboard.press();
        samples[index]?.push(performance.now() - from);
        await settled;
      }
    }
    const [ours, peer, floor] = samples.map((each) => percentile(each, 0.5)) as [number, number, number];
    const with_ = { peer: "node-pty", peerValue: peer, unit: "ms" };
    return [
      atMost(1.2, { name: "key to echo through a session, p50", ours, ...with_ }),
      {
        name: "key to echo through a minimal relay process, p50",
        ours: floor,
        ...with_,
        ratio: floor / peer,
        target: "",
        pass: null,
      },
    ];
  } finally {
    for (const keyboard of keyboards) await keyboard.stop();
  }
}

async function ofSession(gateway: Gateway): Promise<Keyboard> {
  const session = await gateway.start({ command: ECHO, pty: true });
  const chunks = session.follow()[Symbol.asyncIterator]();
  while (!Buffer.from((await chunks.next()).value?.bytes ?? "").includes("ready"));
  return {
    async press() {
      const settled = session.write("k");
      const { done } = await chunks.next();
      if (done) throw new Error("the session ended");
      return { settled };
    },
    async stop() {
      await session.kill({ signal: "SIGKILL" });
      await chunks.return?.();
    },
  };
}

async function ofEvents(
  pty: { write(data: string): void; onData(listener: (data: Buffer) => void): unknown },
  stop: () => void,
): Promise<Keyboard> {
  let heard: (data: Buffer) => void = () => {};
  const ready = new Promise<void>((resolve) => {
    heard = (data) => (data.includes("ready") ? resolve() : undefined);
  });
  pty.onData((data) => heard(data));
  await ready;
  return {
    press: () =>
      new Promise((resolve) => {
        heard = () => resolve({});
        pty.write("k");
      }),
    stop,
  };
}
