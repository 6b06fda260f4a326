import { getSystemErrorMessage } from "node:util";
import type { ExitRecord } from "../executor/execution.ts";
import type { TerminalHistory } from "../executor/session-data.ts";

const UNENFORCED: Record<NonNullable<ExitRecord["loose"]>[number], string> = {
  memory: "the memory limit was watched, not kept by the kernel: no memory cgroup can be had here",
  processes: "the process limit was watched, not kept by the kernel: no pids cgroup can be had here",
  cpu: "the cpu limit was not kept: no cpu cgroup can be had here",
};

/** For limits that this machine does not let us hand to the kernel. */
export function unenforcedLimitWarnings(loose: ExitRecord["loose"]): string[] {
  return (loose ?? []).map((limit) => `${UNENFORCED[limit]} (see \`sallyport doctor\`)`);
}

export function lostOutputWarning(stream: string, bytes: number): string {
  return `${bytes} bytes of ${stream} could not be written to disk and are lost`;
}

/** Why a command that asked for a terminal runs on pipes. */
function noTerminalWarning({ step, errno }: { step: string; errno: number }): string {
  const why = errno > 0 ? getSystemErrorMessage(-errno) : "none is available";
  return `no terminal could be had (${step}: ${why}), so it ran on pipes`;
}

/** Where there should be a terminal and is none. */
export function terminalWarnings(history: TerminalHistory | null): string[] {
  return history && "failed" in history ? [noTerminalWarning(history.failed)] : [];
}
