import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** As many as are told of. */
const MOST = 32;
const NOBODY = { foreground: 0, group: 0, on: [] };

/** How a terminal takes input, from `stty`: Node cannot ask it itself. What cannot be seen is as usual. */
export function modesOf(terminal: string | undefined): { echo: boolean; canonical: boolean } {
  const text = terminal === undefined ? "" : ask(terminal);
  const isOff = (name: string) => new RegExp(`(^|\\s)-${name}\\b`).test(text);
  return { echo: !isOff("echo"), canonical: !isOff("icanon") };
}

function ask(terminal: string): string {
  const which = process.platform === "linux" ? "-F" : "-f";
  return spawnSync("stty", [which, terminal, "-a"], { encoding: "utf8", env: { PATH: "/bin:/usr/bin" } }).stdout ?? "";
}

interface Seen {
  pid: number;
  group: number;
  terminal: number;
  front: number;
  born: number;
}

function look(pid: number | string): Seen | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const number = (index: number) => Number(fields[index] ?? 0);
    return {
      pid: Number.parseInt(stat, 10),
      group: number(2),
      terminal: number(4),
      front: number(5),
      born: number(19),
    };
  } catch {
    return null; // it ended, or there is no /proc
  }
}

/** The group in front of the terminal of a process; 0: it cannot be seen. */
export function groupInFront(main: number): number {
  return Math.max(0, look(main)?.front ?? 0);
}

/** Who has the same terminal as a process, parents first, and which of them is in front. */
export function usersOf(main: number): { foreground: number; group: number; on: number[] } {
  const own = look(main);
  if (!own || own.terminal === 0) return NOBODY;
  const on = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => look(name) ?? [])
    .filter(({ terminal }) => terminal === own.terminal)
    .sort((a, b) => a.born - b.born || a.pid - b.pid);
  const front = on.find(({ group }) => group === own.front);
  return { foreground: front?.pid ?? 0, group: Math.max(0, own.front), on: on.slice(0, MOST).map(({ pid }) => pid) };
}
