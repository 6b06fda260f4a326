import { spawnSync } from "node:child_process";
import { allProcesses, findProcess } from "../process-table.ts";

const PROCESSES_MAX = 32;
/** The longest line that a terminal accepts. */
const LINE_MAX = 4096;

/** The input modes of a terminal, from `stty`. Without it, the defaults are assumed. */
export function inputModes(terminal: string): { echo: boolean; canonical: boolean } {
  const args = [process.platform === "linux" ? "-F" : "-f", terminal, "-a"];
  const text = spawnSync("stty", args, { encoding: "utf8", env: { PATH: "/bin:/usr/bin" } }).stdout ?? "";
  const isOff = (name: string) => new RegExp(`(^|\\s)-${name}\\b`).test(text);
  return { echo: !isOff("echo"), canonical: !isOff("icanon") };
}

/** The foreground process group of a process's terminal; 0 if it is unknown. */
export function foregroundGroup(pid: number): number {
  return findProcess(pid)?.foreground ?? 0;
}

/** The processes on the terminal of a process, parents first, and the foreground process and group. */
export function terminalProcesses(pid: number): { foreground: number; group: number; on: number[] } {
  const { terminal, foreground } = findProcess(pid) ?? { terminal: 0, foreground: 0 };
  const on = allProcesses()
    .filter((each) => terminal !== 0 && each.terminal === terminal)
    .sort((a, b) => Number(a.born) - Number(b.born) || a.pid - b.pid);
  const front = on.find(({ group }) => group === foreground);
  return { foreground: front?.pid ?? 0, group: foreground, on: on.slice(0, PROCESSES_MAX).map((each) => each.pid) };
}

/** The input since the last end of a line, from all clients. The check of the next key needs it. */
export class TypedLine {
  #bytes: number[] = [];
  #group = 0;
  overlong = false;
  #before = 0;

  /** `group`: the foreground process group when this was typed. */
  add(bytes: Uint8Array, group: number): void {
    if (group !== this.#group) this.#before = this.#bytes.length;
    this.#group = group;
    for (const byte of bytes) {
      if (byte === 10 || byte === 13) this.clear();
      else if (this.#bytes.length < LINE_MAX) this.#bytes.push(byte);
      else this.overlong = true;
    }
  }

  clear(): void {
    this.#bytes = [];
    this.overlong = false;
    this.#before = 0;
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  get hex(): string {
    return Buffer.from(this.#bytes).toString("hex");
  }

  /** The number of bytes that were typed while another group than this one was in the foreground. */
  typedBefore(group: number): number {
    return group === this.#group ? this.#before : this.#bytes.length;
  }
}
