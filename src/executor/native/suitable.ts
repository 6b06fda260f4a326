import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { SallyportError } from "../../core/error.ts";
import { operatorStep } from "../../core/next-step.ts";
import { fileSystemType } from "../../storage/file-system.ts";
import { keeperBinary } from "./zygote.ts";

/** Created on use: in the bundle, the code of zod is not loaded yet when this file is. */
const answerSchema = () =>
  z.object({
    step: z.enum(["files", "locks", "maps", "renames", "sockets"]).optional(),
    errno: z.number().optional(),
  });

type Step = NonNullable<z.infer<ReturnType<typeof answerSchema>>["step"]>;

/** What the file system does not support if a step of the keeper's check fails. */
const LACKS: Record<Step, string> = {
  files: "files that can be created",
  locks: "file locks",
  maps: "shared memory maps",
  renames: "files that can be written and replaced",
  sockets: "Unix sockets",
};

const { errno: E } = constants;
/** Errors that say nothing about the type of the file system. They are reported when something needs to be written. */
const TEMPORARY = new Set([E.ENOSPC, E.EDQUOT, E.EROFS, E.EACCES, E.ENOMEM, E.EMFILE, E.ENFILE, E.ENOENT]);
const TIMEOUT_MS = 30_000;

export const CHOOSE_FILE_SYSTEM =
  "Choose a folder on a local disk (ext4, xfs, btrfs) or tmpfs with `--state DIR` or `SALLYPORT_STATE`. In a container or virtual machine, use a volume or disk of its own instead of a folder that the host shares.";

/**
 * Returns what the file system of a folder lacks for a state folder, as the keeper finds out by trying it there. Null if
 * nothing is missing, "unknown" if that cannot be said now.
 */
export function missingInFileSystem(folder: string): string | "unknown" | null {
  const { stdout } = spawnSync(keeperBinary(), ["check", folder], { env: {}, encoding: "utf8", timeout: TIMEOUT_MS });
  try {
    const { step, errno = 0 } = answerSchema().parse(JSON.parse(stdout));
    if (step === undefined) return null;
    if (TEMPORARY.has(errno)) return "unknown";
    const why = process.getBuiltinModule("node:util").getSystemErrorMessage(-errno);
    return `${fileSystemType(folder) ?? "unknown"} file system without ${LACKS[step]} (${why})`;
  } catch {
    return "unknown"; // The keeper has not been built, or does not start.
  }
}

/** The file in the state folder that records the last successful check. */
const RECORD = "file-system";

/**
 * Throws if the file system of a state folder cannot hold one. Without this check, the first command would fail with
 * "disk I/O error". Checks once for each build of the keeper and file system.
 */
export function assertSuitable(state: string): void {
  const record = join(state, RECORD);
  const key = `${statSync(state).dev} ${readOrEmpty(`${keeperBinary()}.id`)}`;
  if (readOrEmpty(record) === key || !existsSync(keeperBinary())) return;
  const missing = missingInFileSystem(state);
  if (missing === "unknown") return;
  if (missing !== null) {
    throw new SallyportError("StateUnusable", `The state folder \`${state}\` is on a ${missing}.`, [
      operatorStep("other_state", CHOOSE_FILE_SYSTEM),
    ]);
  }
  try {
    writeFileSync(record, key, { mode: 0o600 });
  } catch {
    // Best effort: the next gateway checks again.
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
