import { getSystemErrorMessage } from "node:util";

/** Why a command that asked for a terminal runs on pipes. */
export function noTerminalNote({ step, errno }: { step: string; errno: number }): string {
  const why = errno > 0 ? getSystemErrorMessage(-errno) : "none is available";
  return `no terminal could be had (${step}: ${why}), so it ran on pipes`;
}
