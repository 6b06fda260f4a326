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

/** A session that this worker has claimed. */
export const Claim = z.object({
  id: z.string(),
  agent: z.string(),
  /** The ID of the session in this worker's own records. */
  local: z.string(),
  entry: RegistryEntry,
  revision: z.number(),
});
export type Claim = z.infer<typeof Claim>;

/** Size of a test write, which is larger than a claim. */
const PROBE_BYTES = 4096;

const Line = z.union([z.object({ took: Claim }), z.object({ done: z.string() })]);

/**
 * The claims of this worker whose end has not been reported yet. They are stored in a file, so that after `kill -9` the
 * next worker on this machine can report them.
 */
export class Claims {
  readonly #path: string;
  #descriptor: number | null = null;
  #trouble: string | null = null;

  constructor(state: string) {
    this.#path = join(state, "fleet", "claims");
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
  }

  /** The reason why claims cannot be stored, or null. While it is set, the worker accepts no jobs. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Stores a claim. Throws when it cannot be written. */
  took(claim: Claim): void {
    this.#append({ took: claim });
  }

  /** Tests, after a failed write, whether claims can be written again. Returns true only if the failure is over. */
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

  /** Returns the open claims of the previous worker, and rewrites the file so that it contains only these. */
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

  /** Appends a line. It starts with a line break, because a full disk may have truncated the previous line. */
  #append(line: z.input<typeof Line>): void {
    try {
      this.#write(this.#file(), `\n${JSON.stringify(line)}\n`);
    } catch (error) {
      this.#recordFailure(error);
      throw error;
    }
  }

  #write(file: number, text: string): void {
    if (writeSync(file, text) < Buffer.byteLength(text)) throw new Error("ENOSPC: the claim was only partly written");
  }

  /** Returns the file descriptor, which stays open because each command writes two lines. */
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
        return []; // truncated by a full disk or a crash
      }
    });
  }
}

/** Returns the ID of an attempt in the worker's own records. Attempts have different IDs, as they may share a host. */
export function localId(id: string, attempt: number): string {
  if (attempt === 1) return id;
  const last = Number.parseInt(id.slice(-2), 16) ^ attempt;
  return id.slice(0, -2) + last.toString(16).padStart(2, "0");
}

/** Returns the local IDs of all attempts, newest first. */
export function localIds(id: string, attempts = MAX_ATTEMPTS): string[] {
  return Array.from({ length: attempts }, (_, index) => localId(id, attempts - index));
}
