import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SallyportError } from "../../src/core/error.ts";
import { openGateway } from "../../src/gateway/open.ts";
import { isRunning, zygotesOf } from "../../test/fixtures/processes.ts";
import { until } from "../../test/fixtures/until.ts";
import type { Random } from "./random.ts";

/** Runs commands while their disk is filled and emptied. Returns null when no small disk can be mounted here. */
export async function fillDisk(random: Random, rounds: number): Promise<string[] | null> {
  const state = mkdtempSync(join(tmpdir(), "sallyport-soak-small-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", state]).status === 0;
  try {
    return mounted ? await onSmallDisk(state, random, rounds) : null;
  } finally {
    for (const zygote of zygotesOf(state)) {
      process.kill(zygote, "SIGTERM");
      await until("the zygote has exited", () => !isRunning(zygote), 60_000);
    }
    if (mounted) spawnSync("umount", ["-l", state]);
    rmSync(state, { recursive: true, force: true });
  }
}

async function onSmallDisk(state: string, random: Random, rounds: number): Promise<string[]> {
  const findings: string[] = [];
  const ballast = join(state, "ballast");
  const gateway = await openGateway({
    state,
    configuration: null,
    policy: { scope: "anywhere", sandbox: "off" },
    approve: async () => ({ decision: "once", who: "soak" }),
  });
  try {
    for (let round = 0; round < rounds; round++) {
      const full = random.chance(0.6);
      const { bavail, bsize } = statfsSync(state);
      if (full)
        writeFileSync(ballast, Buffer.alloc(Math.max(0, Number(bavail) * Number(bsize) - random.between(0, 65_536))));
      const bytes = random.between(1, 400_000);
      const command = `head -c ${bytes} /dev/zero | tr '\\0' x; exit 5`;
      try {
        const { id, status, exitCode, error } = await gateway.run({ command });
        if (error === null && (status !== "completed" || exitCode !== 5)) {
          findings.push(`with ${full ? "a full disk" : "free space on the disk"}, ${id} was ${status} (${exitCode})`);
        }
        if (error !== null && !full) findings.push(`with free space on the disk: ${error.message}`);
      } catch (error) {
        if (!full || !(error instanceof SallyportError)) findings.push(`on a small disk: ${(error as Error).stack}`);
      }
      rmSync(ballast, { force: true });
      await gateway.clean({ maxCount: 5 });
    }
    const { broken } = gateway.audit.verify();
    if (broken) findings.push(`on a small disk, the audit chain is broken at entry ${broken.seq}: ${broken.why}`);
  } finally {
    await gateway.close();
  }
  return findings;
}
