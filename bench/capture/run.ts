import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atMost, benchGateway, percentile, procKib } from "../measure.ts";
import type { BenchResult } from "../result.ts";

/** Captures a large output: wall time compared with a pipe to a file, and memory growth of gateway and keeper. */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  const size = quick ? "512M" : "2G";
  const { gateway, leave } = await benchGateway();
  const scratch = mkdtempSync(join(tmpdir(), "sallyport-bench-cat-"));
  const wall: number[][] = [[], []];
  const rss: number[] = [];
  let keeperKib = 0;
  try {
    await gateway.run({ command: "true" });
    for (let round = 0; round < 5; round++) {
      const before = process.memoryUsage.rss();
      const from = performance.now();
      const request = { command: "head", args: ["-c", size, "/dev/zero"], diskCap: 0, timeoutMs: 0 };
      const session = await gateway.start(request, { foreground: true });
      let peak = before;
      const watch = setInterval(() => {
        peak = Math.max(peak, process.memoryUsage.rss());
        const [first] = session.usage().processes;
        if (first) keeperKib = Math.max(keeperKib, procKib(first.ppid, "status", "VmRSS"));
      }, 50);
      await session.wait();
      clearInterval(watch);
      wall[0]?.push(performance.now() - from);
      rss.push((peak - before) / 1048576);
      await session.remove();

      const since = performance.now();
      spawnSync("sh", ["-c", `head -c ${size} /dev/zero | cat > ${join(scratch, "file")}`]);
      wall[1]?.push(performance.now() - since);
      rmSync(join(scratch, "file"));
    }
    const name = `capture ${size} of output, cap off`;
    const none = { peer: "", peerValue: null };
    return [
      atMost(1.25, {
        name,
        ours: percentile(wall[0] ?? [], 0.5),
        peer: "head | cat > file",
        peerValue: percentile(wall[1] ?? [], 0.5),
        unit: "ms",
      }),
      atMost(32, { name: `${name}: gateway RSS growth`, ours: Math.max(...rss), unit: "MiB", ...none }),
      atMost(4, { name: `${name}: keeper RSS`, ours: keeperKib / 1024, unit: "MiB", ...none }),
    ];
  } finally {
    await leave();
    rmSync(scratch, { recursive: true, force: true });
  }
}
