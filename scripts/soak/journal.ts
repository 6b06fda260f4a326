import { closeSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/** What a gateway process was told, written down at once: whoever is killed must not take it along. */
export type Entry =
  | { what: "asked"; token: string; job: string }
  /** A session was acknowledged; `token`: what it leaves in the workspace when it runs. */
  | { what: "started"; token: string; id: string }
  | { what: "ended"; token: string; id: string; status: string; exitCode: number | null; bytes: number }
  /** Output that was handed out, in hex. */
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

/** Of all processes. The last line of one that was killed may be cut off. */
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
