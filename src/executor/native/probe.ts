import { spawnSync } from "node:child_process";
import * as z from "zod";
import type { SandboxTier } from "../executor.ts";
import { keeperBinary } from "./zygote.ts";

const Shape = z.object({
  landlock: z.number().int().min(0),
  mounts: z.enum(["root", "user", "none"]),
  isolation: z.boolean(),
  networkNamespace: z.boolean(),
  seccomp: z.boolean(),
});

const NOTHING: SandboxTier = {
  landlock: 0,
  mounts: "none",
  isolation: false,
  networkNamespace: false,
  seccomp: false,
};
const PATIENCE_MS = 10_000;

let known: SandboxTier | null = null;

/** What the keeper can confine commands with on this machine; asked once. Nothing, where the keeper cannot say. */
export function sandboxTier(): SandboxTier {
  known ??= probe();
  return known;
}

function probe(): SandboxTier {
  const { stdout } = spawnSync(keeperBinary(), ["probe"], { env: {}, encoding: "utf8", timeout: PATIENCE_MS });
  try {
    return Shape.parse(JSON.parse(stdout));
  } catch {
    return NOTHING;
  }
}
