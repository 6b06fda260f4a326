import { readFileSync, readlinkSync } from "node:fs";
import type { InputState, TerminalProcess } from "../executor.ts";
import type { InputReply } from "./connection.ts";

/** Adds the details of processes, which the keeper names by pid, from /proc. */
export function inputStateOf(reply: InputReply): InputState {
  const {
    reading,
    echo,
    canonical,
    foreground,
    bytes,
    typed,
    overlong,
    before,
    on,
    applicationCursor,
    bracketedPaste,
  } = reply;
  const processes = on.map(processOf);
  return {
    reading,
    echo,
    canonical,
    foreground: foreground > 0 ? (processes.find(({ pid }) => pid === foreground) ?? processOf(foreground)) : null,
    bytes,
    processes,
    typed: Buffer.from(typed, "hex"),
    typedOverlong: overlong,
    typedBefore: before,
    modes: { applicationCursor, bracketedPaste },
  };
}

function processOf(pid: number): TerminalProcess {
  return {
    pid,
    program: seen(() => readlinkSync(`/proc/${pid}/exe`)),
    argv: seen(() => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1)) ?? [],
    cwd: seen(() => readlinkSync(`/proc/${pid}/cwd`)),
  };
}

/** The process may have ended, or belong to another user. */
function seen<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}
