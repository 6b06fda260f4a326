import type { Gateway } from "../../src/index.ts";
import { atMost, percentile } from "../measure.ts";
import type { BenchResult } from "../result.ts";
import { rawPty } from "./node-pty.ts";

/** Echoes each byte by itself as soon as it has read it, as a full-screen program does. */
const ECHO = "stty raw -echo; printf ready; exec cat";

/** From a key pressed to the program's answer, both seen by this process. */
export async function keyToEcho(gateway: Gateway, rounds: number): Promise<BenchResult> {
  const session = await gateway.start({ command: ECHO, pty: true });
  const chunks = session.follow()[Symbol.asyncIterator]();
  await until(async () => Buffer.from((await chunks.next()).value?.bytes ?? "").includes("ready"));
  const raw = rawPty(ECHO);
  let heard: (data: Buffer) => void = () => {};
  const first = new Promise<void>((resolve) => {
    heard = (data) => (data.includes("ready") ? resolve() : undefined);
  });
  const stop = raw.onData((data) => heard(data));
  await first;
  try {
    const [ours, peer]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      let from = performance.now();
      const written = session.write("k");
      const { done } = await chunks.next();
      if (done) throw new Error("it ended");
      ours.push(performance.now() - from);
      await written;
      await new Promise<void>((resolve) => {
        heard = () => resolve();
        from = performance.now();
        raw.write("k");
      });
      peer.push(performance.now() - from);
    }
    return atMost(1.2, {
      name: "key to echo through a session, p50",
      ours: percentile(ours, 0.5),
      peer: "node-pty",
      peerValue: percentile(peer, 0.5),
      unit: "ms",
    });
  } finally {
    stop();
    raw.kill();
    await session.kill({ signal: "SIGKILL" });
    await chunks.return?.();
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo()));
}
