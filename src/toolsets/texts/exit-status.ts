import { constants } from "node:os";

const TIMED_OUT = 124;
const SIGNAL_BASE = 128;

interface Ended {
  status: string;
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

/** One number for how a command ended, as a shell and timeout(1) give it. Null: it has not, or never ran. */
export function exitStatus({ status, exitCode, signal }: Ended): number | null {
  if (status === "timed_out") return TIMED_OUT;
  if (exitCode !== null) return exitCode;
  return signal === null ? null : SIGNAL_BASE + (constants.signals[signal] ?? 0);
}
