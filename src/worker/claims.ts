import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { MAX_ATTEMPTS, RegistryEntry } from "../fleet/wire.ts";

/** A session this worker has taken up. */
export const Claim = z.object({
  id: z.string(),
  agent: z.string(),
  /** What its own records here call it. */
  local: z.string(),
  entry: RegistryEntry,
  revision: z.number(),
});
export type Claim = z.infer<typeof Claim>;

/** As much as a claim takes, and some more. */
const PROBE_BYTES = 4096;

const Line = z.union([z.object({ took: Claim }), z.object({ done: z.string() })]);

/**
 * What this worker has claimed and not yet told the end of, in a file of its own: whoever starts here after a kill -9
 * knows for which sessions the fleet still waits.
 */
export class Claims {
  readonly #path: string;
  #descriptor: number | null = null;
  #trouble: string | null = null;

  constructor(state: string) {
    this.#path = join(state, "fleet", "claims");
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
  }

  /** Why nothing can be noted here; null: it can. Who cannot note what it takes must take nothing. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Throws where it cannot be noted. */
  took(claim: Claim): void {
    this.#append({ took: claim });
  }

  /** Tries whether there is room again. True: there was trouble, and it is over. */
  recheck(): boolean {
    if (this.#trouble === null) return false;
    try {
      const file = this.#file();
      const { size } = fstatSync(file);
      this.#write(file, `\n${" ".repeat(PROBE_BYTES)}\n`);
      ftruncateSync(file, size);
      this.#trouble = null;
    } catch (error) {
      this.#recordFailure(error);
    }
    return this.#trouble === null;
  }

  done(local: string): void {
    this.#append({ done: local });
  }

  /** What was left open, by whoever was here before; the file is written anew with no more than that. */
  load(): Claim[] {
    const claims = new Map<string, Claim>();
    for (const line of this.#lines()) {
      if ("took" in line) claims.set(line.took.local, line.took);
      else claims.delete(line.done);
    }
    const left = [...claims.values()];
    writeFileSync(`${this.#path}.new`, left.map((took) => `${JSON.stringify({ took })}\n`).join(""), { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
    this.close();
    return left;
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  /** Begins a line of its own: the last one may have been cut off by a full disk, and must not take this one along. */
  #append(line: z.input<typeof Line>): void {
    try {
      this.#write(this.#file(), `\n${JSON.stringify(line)}\n`);
    } catch (error) {
      this.#recordFailure(error);
      throw error;
    }
  }

  #write(file: number, text: string): void {
    if (writeSync(file, text) < Buffer.byteLength(text)) throw new Error("ENOSPC: only a part of it could be written");
  }

  /** Two lines a command: the file stays open. */
  #file(): number {
    this.#descriptor ??= openSync(this.#path, "a", 0o600);
    return this.#descriptor;
  }

  #recordFailure(error: unknown): void {
    this.#trouble = (error as Error).message;
    this.close();
  }

  #lines(): z.infer<typeof Line>[] {
    let text: string;
    try {
      text = readFileSync(this.#path, "utf8");
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

/** What a worker's own records call a session: each attempt at it is another run, and may come to the same host. */
export function localId(id: string, attempt: number): string {
  if (attempt === 1) return id;
  const last = Number.parseInt(id.slice(-2), 16) ^ attempt;
  return id.slice(0, -2) + last.toString(16).padStart(2, "0");
}

/** The newest first. */
export function localIds(id: string, attempts = MAX_ATTEMPTS): string[] {
  return Array.from({ length: attempts }, (_, index) => localId(id, attempts - index));
}
