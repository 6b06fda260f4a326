import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findOnPath } from "./compiler.ts";
import { type Finding, type Machine, ok, warn } from "./finding.ts";
import { existingPart } from "./state-folder.ts";

const NAME = "hole punching";
const SIZE = 1024 * 1024;

/** How the disk cap drops the middle of a long log without moving its ends. */
export async function checkHolePunching({ state }: Machine): Promise<Finding> {
  const program = findOnPath(["fallocate"]);
  if (!program) return warn(NAME, "not tried: no `fallocate` program here", "Install util-linux to have it checked.");
  let folder: string | null = null;
  try {
    folder = mkdtempSync(join(existingPart(state), ".sallyport-doctor-"));
    return punch(program, join(folder, "probe"));
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim().split("\n").at(-1) : String(error);
    return warn(
      NAME,
      `does not work: ${reason}`,
      "Use a state folder on ext4, xfs, btrfs or tmpfs, or `--disk-cap 0`.",
    );
  } finally {
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
}

function punch(program: string, file: string): Finding {
  writeFileSync(file, Buffer.alloc(SIZE, 1), { flush: true });
  const before = statSync(file).blocks;
  execFileSync(program, ["--punch-hole", "--offset", "0", "--length", String(SIZE / 2), file], { stdio: "pipe" });
  const { blocks, size } = statSync(file);
  if (size === SIZE && blocks < before) return ok(NAME, "works");
  return warn(NAME, "frees nothing here", "Use a state folder on ext4, xfs, btrfs or tmpfs.");
}
