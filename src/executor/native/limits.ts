import { spawnSync } from "node:child_process";
import * as z from "zod";
import { keeperBinary } from "./zygote.ts";

/** Which limits the kernel enforces for commands that a keeper runs, determined by trying them. */
const LimitSupportSchema = z.object({
  /** The version of the cgroup hierarchies; 0 when none with the required controllers is mounted. */
  version: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  memory: z.boolean(),
  cpu: z.boolean(),
  processes: z.boolean(),
  /** Whether the systemd manager of the user moved the keeper into a scope, in which it can create cgroups. */
  scope: z.boolean(),
});

export type LimitSupport = z.infer<typeof LimitSupportSchema>;

const TIMEOUT_MS = 30_000;

/** Asks the keeper. Returns null if it cannot be started. */
export function limitSupport(): LimitSupport | null {
  const { stdout } = spawnSync(keeperBinary(), ["limits"], { env: {}, encoding: "utf8", timeout: TIMEOUT_MS });
  try {
    return LimitSupportSchema.parse(JSON.parse(stdout));
  } catch {
    return null;
  }
}
