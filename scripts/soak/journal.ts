import { closeSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/** An observation of a gateway process. Each entry is written at once, so that killing the process does not lose it. */
export type Entry =
  | { what: "asked"; token: string; job: string }
  /** A session was acknowledged. Its command writes to the file `ran/TOKEN` when it runs. */
  | { what: "started"; token: string; id: string }
  | { what: "ended"; token: string; id: string; status: string; exitCode: number | null; bytes: number }
  /** Output that `follow()` returned, in hexadecimal. */
  | { what: "seen"; id: string; offset: number; bytes: string }
  | { what: "refused"; token: string; type: string }
  | { what: "sample"; pid: number; atMs: number; rss: number; descriptors: number }
  | { what: "finding"; text: string };

export class Journal {
  readonly #file: number;

  constructor(folder: string, name: string) {
    this.#file = openSync(join(folder, name), "a");
  }

  note(entry: Entry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Returns the entries of all processes. The last line of a killed process may be incomplete and is skipped. */
export function readJournals(folder: string): Entry[] {
  return readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), "utf8")
      .split("\n")
      .flatMap((line) => {
        try {
          return [JSON.parse(line) as Entry];
        } catch {
          return [];
        }
      }),
  );
}
