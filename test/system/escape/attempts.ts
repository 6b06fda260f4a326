import type { Attempt } from "./attempt.ts";
import { KERNEL } from "./kernel.ts";
import { NETWORK } from "./network.ts";
import { PROCESSES } from "./processes.ts";
import { PROTECTED_PATHS } from "./protected-paths.ts";
import { READ_DENIED } from "./read-denied.ts";
import { SOCKETS } from "./sockets.ts";
import { WRITE_OUTSIDE } from "./write-outside.ts";

export const ATTEMPTS: Attempt[] = [
  ...WRITE_OUTSIDE,
  ...READ_DENIED,
  ...PROTECTED_PATHS,
  ...PROCESSES,
  ...KERNEL,
  ...NETWORK,
  ...SOCKETS,
];
