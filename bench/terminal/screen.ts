import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Gateway } from "../../src/index.ts";
import { LogTerminal } from "../../src/session/terminal/log-terminal.ts";
import { atMost, percentile } from "../measure.ts";
import type { BenchResult } from "../result.ts";

const ALONE = { peer: "", peerValue: null, unit: "ms" };

/** Measures the time to read the screen of a program that redraws it continuously. */
export async function liveScreen(gateway: Gateway, rounds: number): Promise<BenchResult[]> {
  const programs: Record<string, { command: string; key: string }> = {
    vim: { command: "vim -u NONE -N -n -i NONE README.md", key: "\x06" },
    top: { command: "top -d 0.1", key: "" },
  };
  const results: BenchResult[] = [];
  for (const [name, { command, key }] of Object.entries(programs)) {
    if (spawnSync("sh", ["-c", `command -v ${name}`]).status !== 0) continue;
    const session = await gateway.start({ command, pty: true });
    const samples: number[] = [];
    while ((await session.screen()).lines.every((line) => line === "")) await sleep(10);
    for (let round = 0; round < rounds; round++) {
      // Go to the next page or back to the first, so that there is always something to draw.
      if (key !== "") await session.write(round % 8 === 7 ? "gg" : key);
      await sleep(20);
      const from = performance.now();
      await session.screen();
      samples.push(performance.now() - from);
    }
    await session.kill({ signal: "SIGKILL" });
    results.push(atMost(10, { name: `screen of a live ${name}, p50`, ours: percentile(samples, 0.5), ...ALONE }));
  }
  return results;
}

/** Measures the time to draw the screen from a log, first without and then with a checkpoint. */
export async function rebuild(rounds: number): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-screen-"));
  try {
    const results: BenchResult[] = [];
    for (const [name, piece] of Object.entries(LOGS)) {
      writeFileSync(join(folder, "output"), fiftyMegabytes(piece));
      writeFileSync(join(folder, "sizes"), "0 120 30\n");
      const samples: number[] = [];
      for (let round = 0; round < rounds; round++) {
        rmSync(join(folder, "screen"), { force: true });
        const from = performance.now();
        (await LogTerminal.open(folder)).close();
        samples.push(performance.now() - from);
      }
      const from = performance.now();
      (await LogTerminal.open(folder)).close();
      const again = performance.now() - from;
      results.push(
        atMost(1000, { name: `screen from a log of 50 MB, ${name}`, ours: percentile(samples, 0.5), ...ALONE }),
        atMost(1000, { name: "the same, with its checkpoint", ours: again, ...ALONE }),
      );
    }
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const LOGS: Record<string, (n: number) => string> = {
  "colored lines": (n) =>
    `\x1b[32m${n}\x1b[0m compiling \x1b[1msrc/file-${n}.c\x1b[0m with all the options there are\r\n`,
  repaints: (n) => `\x1b[${1 + (n % 30)};${1 + ((n * 7) % 90)}H\x1b[38;5;${n % 256}mcell ${n}\x1b[K`,
};

function fiftyMegabytes(piece: (n: number) => string): Buffer {
  const log = Buffer.alloc(50_000_000);
  let filled = 0;
  for (let n = 0; filled < log.length - 200; n++) filled += log.write(piece(n), filled);
  return log.subarray(0, filled);
}
