import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchGateway, percentile, procKib, takeTurns, zygotePid } from "../measure.ts";
import type { Chart } from "./chart.ts";

const TRUE = "/bin/true";

function nodeSpawn(): Promise<unknown> {
  return new Promise((resolve, reject) => spawn(TRUE).on("close", resolve).on("error", reject));
}

export async function costAgainstHeap(quick: boolean): Promise<Chart> {
  const { gateway, leave } = await benchGateway();
  const [ours, theirs]: [number, number][][] = [[], []];
  const ballast: Buffer[] = [];
  for (const megabytes of [0, 64, 128, 256, 512, 1024]) {
    while (ballast.length < megabytes) ballast.push(Buffer.alloc(1 << 20, 1));
    const samples = await takeTurns(quick ? 20 : 80, [() => gateway.run({ command: TRUE, args: [] }), nodeSpawn]);
    ours?.push([megabytes, percentile(samples[0] ?? [], 0.5)]);
    theirs?.push([megabytes, percentile(samples[1] ?? [], 0.5)]);
  }
  await leave();
  return {
    file: "spawn-cost.svg",
    title: "Time to run /bin/true, by size of the calling process",
    x: "MB of live Buffers",
    y: "ms, median",
    lines: [
      { name: "sallyport run", points: ours ?? [] },
      { name: "child_process", points: theirs ?? [] },
    ],
  };
}

export async function rateAgainstConcurrency(quick: boolean): Promise<Chart> {
  const { gateway, leave } = await benchGateway();
  const rate = async (inFlight: number, one: () => Promise<unknown>) => {
    let left = quick ? 300 : 1500;
    const count = left;
    const from = performance.now();
    const lane = async () => {
      while (left-- > 0) await one();
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
    return (count * 1000) / (performance.now() - from);
  };
  const [ours, theirs]: [number, number][][] = [[], []];
  for (const inFlight of [1, 2, 4, 8, 16, 32]) {
    ours?.push([inFlight, await rate(inFlight, () => gateway.run({ command: TRUE, args: [] }))]);
    theirs?.push([inFlight, await rate(inFlight, nodeSpawn)]);
  }
  await leave();
  return {
    file: "throughput.svg",
    title: "Commands per second, by number in flight",
    x: "in flight",
    y: "commands per second",
    lines: [
      { name: "sallyport run", points: ours ?? [] },
      { name: "child_process", points: theirs ?? [] },
    ],
  };
}

export async function captureAgainstSize(quick: boolean): Promise<Chart> {
  const { gateway, leave } = await benchGateway();
  const scratch = mkdtempSync(join(tmpdir(), "sallyport-bench-cat-"));
  const [ours, theirs]: [number, number][][] = [[], []];
  for (const megabytes of quick ? [16, 64, 256] : [16, 64, 256, 1024]) {
    const rates: number[][] = [[], []];
    for (let round = 0; round < 3; round++) {
      const from = performance.now();
      const args = ["-c", `${megabytes}M`, "/dev/zero"];
      const session = await gateway.start({ command: "head", args, diskCap: 0, timeoutMs: 0 }, { foreground: true });
      await session.wait();
      rates[0]?.push((megabytes * 1000) / (performance.now() - from));
      await session.remove();
      const since = performance.now();
      spawnSync("sh", ["-c", `head -c ${megabytes}M /dev/zero | cat > ${scratch}/file`]);
      rates[1]?.push((megabytes * 1000) / (performance.now() - since));
      rmSync(join(scratch, "file"));
    }
    ours?.push([megabytes, percentile(rates[0] ?? [], 0.5)]);
    theirs?.push([megabytes, percentile(rates[1] ?? [], 0.5)]);
  }
  await leave();
  rmSync(scratch, { recursive: true, force: true });
  return {
    file: "capture.svg",
    title: "Capture rate, by amount of output",
    x: "MB of output",
    y: "MB/s",
    lines: [
      { name: "sallyport", points: ours ?? [] },
      { name: "cat > file", points: theirs ?? [] },
    ],
  };
}

export async function memoryAgainstSessions(quick: boolean): Promise<Chart> {
  const { gateway, state, leave } = await benchGateway();
  const keepers: [number, number][] = [];
  const own: [number, number][] = [];
  const first = process.memoryUsage.rss();
  let started = 0;
  for (const count of quick ? [50, 100, 200] : [50, 100, 250, 500, 1000, 2000]) {
    for (; started < count; started += 50) {
      await Promise.all(Array.from({ length: 50 }, () => gateway.start({ command: "sleep", args: ["600"] })));
    }
    const zygote = zygotePid(state);
    const children = readFileSync(`/proc/${zygote}/task/${zygote}/children`, "utf8").split(" ").filter(Boolean);
    const pss = children.reduce((sum, pid) => sum + procKib(Number(pid), "smaps_rollup", "Pss"), 0);
    keepers.push([count, pss / 1024]);
    own.push([count, Math.max(0, process.memoryUsage.rss() - first) / 1024 ** 2]);
  }
  const ids = gateway.list({ status: "running", limit: started }).map(({ id }) => id);
  for (let at = 0; at < ids.length; at += 50) {
    await Promise.all(ids.slice(at, at + 50).map((id) => gateway.session(id).kill({ signal: "SIGKILL" })));
  }
  await leave();
  return {
    file: "sessions.svg",
    title: "Memory, by number of background commands",
    x: "background commands",
    y: "MiB",
    lines: [
      { name: "all keepers (PSS)", points: keepers },
      { name: "gateway (growth)", points: own },
    ],
  };
}
