import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/** What a gateway has told its caller. Each line of the journal is one of these, written after the gateway told it. */
export type Acknowledged =
  /** A session was started in the background. */
  | { what: "started"; id: string; lines: number }
  /** Output was read: the first `bytes` bytes. */
  | { what: "read"; id: string; bytes: number }
  /** A command ended. `bytes` is the size of its output. */
  | { what: "ended"; id: string; lines: number; exitCode: number | null; bytes: number }
  /** An entry was at the end of the audit log. */
  | { what: "audit"; seq: number; hash: string }
  /** A work item was in the queue. */
  | { what: "work"; key: string };

/** Writes the journal, which is on another disk than the state folder. */
export class Journal {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, "a");
  }

  note(line: Acknowledged): void {
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

export function readJournal(path: string): Acknowledged[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Acknowledged);
}

/** The shell text of a command of the load. Its output can be computed from the number of lines. */
export function commandText(lines: number, exitCode: number): string {
  return `for ((i = 0; i < ${lines}; i++)); do printf 'line %08d of the output\\n' $i; ((i % 50)) || sleep 0.02; done; exit ${exitCode}`;
}

export function outputText(lines: number): string {
  return Array.from({ length: lines }, (_, i) => `line ${String(i).padStart(8, "0")} of the output\n`).join("");
}
