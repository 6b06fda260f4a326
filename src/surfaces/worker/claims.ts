import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { Entry } from "../../executor/fleet/wire.ts";

/** A session this worker has taken up. */
export const Claim = z.object({
  id: z.string(),
  agent: z.string(),
  /** What its own records here call it. */
  local: z.string(),
  entry: Entry,
  revision: z.number(),
});
export type Claim = z.infer<typeof Claim>;

const Line = z.union([z.object({ took: Claim }), z.object({ done: z.string() })]);

/**
 * What this worker has claimed and not yet told the end of, in a file of its own: whoever starts here after a kill -9
 * knows for which sessions the fleet still waits.
 */
export class Claims {
  readonly #file: string;
  #open: number | null = null;

  constructor(state: string) {
    this.#file = join(state, "fleet", "claims");
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
  }

  took(claim: Claim): void {
    this.#append({ took: claim });
  }

  done(local: string): void {
    this.#append({ done: local });
  }

  /** What was left open, by whoever was here before; the file is written anew with no more than that. */
  open(): Claim[] {
    const claims = new Map<string, Claim>();
    for (const line of this.#lines()) {
      if ("took" in line) claims.set(line.took.local, line.took);
      else claims.delete(line.done);
    }
    const left = [...claims.values()];
    writeFileSync(`${this.#file}.new`, left.map((took) => `${JSON.stringify({ took })}\n`).join(""), { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
    this.close();
    return left;
  }

  close(): void {
    if (this.#open !== null) closeSync(this.#open);
    this.#open = null;
  }

  /** Two lines a command: the file stays open. */
  #append(line: z.input<typeof Line>): void {
    this.#open ??= openSync(this.#file, "a", 0o600);
    writeSync(this.#open, `${JSON.stringify(line)}\n`);
  }

  #lines(): z.infer<typeof Line>[] {
    let text: string;
    try {
      text = readFileSync(this.#file, "utf8");
    } catch {
      return [];
    }
    return text.split("\n").flatMap((each) => {
      try {
        return [Line.parse(JSON.parse(each))];
      } catch {
        return []; // cut off by a full disk or a crash
      }
    });
  }
}
