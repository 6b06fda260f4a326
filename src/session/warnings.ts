import type { ExitRecord } from "../executor/execution.ts";
import type { TerminalHistory } from "../executor/session-data.ts";

const UNENFORCED: Record<NonNullable<ExitRecord["loose"]>[number], string> = {
  memory: "the memory limit was enforced by polling, not by the kernel: no memory cgroup is available",
  processes: "the process limit was enforced by polling, not by the kernel: no pids cgroup is available",
  cpu: "the CPU limit was not enforced: no cpu cgroup is available",
};

/** Returns warnings for limits that the kernel could not enforce on this machine. */
export function unenforcedLimitWarnings(loose: ExitRecord["loose"]): string[] {
  return (loose ?? []).map((limit) => UNENFORCED[limit]);
}

/** The warning for a command that ended because the kernel freed memory, not because of a limit of its own. */
export const OUT_OF_MEMORY_WARNING =
  "the machine or its container ran out of memory, and the kernel killed a process of this command";

export function lostOutputWarning(stream: string, bytes: number): string {
  return `${bytes} bytes of ${stream} could not be written to disk and were lost`;
}

/** Returns the warning for a command that requested a terminal and runs on pipes instead. */
function noTerminalWarning({ step, errno }: { step: string; errno: number }): string {
  const why = errno > 0 ? process.getBuiltinModule("node:util").getSystemErrorMessage(-errno) : "none is available";
  return `no terminal was available (${step}: ${why}), so the command ran on pipes`;
}

/** Returns the warnings of a session whose terminal could not be opened. */
export function terminalWarnings(history: TerminalHistory | null): string[] {
  return history && "failed" in history ? [noTerminalWarning(history.failed)] : [];
}
