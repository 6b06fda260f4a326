import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { TerminalSize } from "../../core/terminal.ts";

/** A terminal's state at an offset of its log, which saves rendering the output before it again. */
interface Checkpoint {
  offset: number;
  size: TerminalSize;
  /** Output that puts a new terminal of this size into the state. */
  output: Uint8Array;
}

/** The maximum size of a checkpoint that is written or read. */
const MOST_BYTES = 4 << 20;
const MOST_HEADER_BYTES = 512;

const Header = z.strictObject({
  version: z.literal(1),
  offset: z.int().min(0),
  columns: z.int().min(1).max(1000),
  rows: z.int().min(1).max(1000),
  sha256: z.string(),
});

const NAME = "screen";

/** Writes a checkpoint. Best effort: without it, the next rendering takes longer. */
export function writeCheckpoint(folder: string, { offset, size, output }: Checkpoint): void {
  if (output.length > MOST_BYTES - MOST_HEADER_BYTES) return;
  const header = { version: 1, offset, ...size, sha256: digest(offset, output) };
  // Several gateways may write at the same time: each writes its own file, and the last rename wins.
  const temporary = join(folder, `${NAME}.${process.pid}`);
  try {
    writeFileSync(temporary, Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), output]), { mode: 0o600 });
    renameSync(temporary, join(folder, NAME));
  } catch {
    rmSync(temporary, { force: true });
  }
}

/** Reads the checkpoint; null when it is missing, damaged, or past the end of the log (`logBytes`). */
export function readCheckpoint(folder: string, logBytes: number): Checkpoint | null {
  const bytes = readBounded(join(folder, NAME));
  const end = bytes?.subarray(0, MOST_HEADER_BYTES).indexOf(0x0a) ?? -1;
  if (bytes === null || end === -1) return null;
  const header = Header.safeParse(parse(bytes.toString("utf8", 0, end)));
  if (!header.success) return null;
  const { offset, columns, rows, sha256 } = header.data;
  const output = bytes.subarray(end + 1);
  if (offset > logBytes || digest(offset, output) !== sha256) return null;
  return { offset, size: { columns, rows }, output };
}

function digest(offset: number, output: Uint8Array): string {
  return createHash("sha256").update(`${offset}\n`).update(output).digest("hex");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function readBounded(path: string): Buffer | null {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return null;
  }
  try {
    const bytes = Buffer.allocUnsafe(MOST_BYTES + 1);
    let filled = 0;
    for (let count = -1; count !== 0 && filled < bytes.length; filled += count) {
      count = readSync(fd, bytes, filled, bytes.length - filled, filled);
    }
    return filled > MOST_BYTES ? null : Buffer.from(bytes.subarray(0, filled));
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}
