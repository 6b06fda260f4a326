import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { SallyportError } from "../core/error.ts";
import { badTrustName, noSuchTrust, trustNameTaken, trustUnreadable } from "./errors.ts";
import { fleetFolder, publicKeyOf } from "./keys.ts";

const NAME = /^[a-z0-9][a-z0-9_.:@-]{0,62}$/i;

const Trusted = z.strictObject({
  name: z.string().regex(NAME),
  key: z.string(),
  addedAt: z.string(),
  by: z.string(),
});
/** A gateway whose approvals count on this machine. */
export type Trusted = z.infer<typeof Trusted>;

const TrustFile = z.strictObject({ version: z.literal(1), keys: z.array(Trusted).max(10_000) });

/**
 * Whose word a worker takes: its operator's own list, in its state folder, which no command can write (promise 7). What
 * is not in it is not trusted; an unreadable list trusts nobody and says so.
 */
export class TrustedKeys {
  readonly #state: string;
  readonly #file: string;

  constructor(state: string) {
    this.#state = state;
    this.#file = join(fleetFolder(state), "trusted.json");
  }

  /** Read anew each time: what was taken back must not count any more. */
  list(): Trusted[] {
    let text: string;
    try {
      text = readFileSync(this.#file, "utf8");
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return [];
      throw new SallyportError("InvalidConfiguration", ...trustUnreadable(this.#file, message));
    }
    try {
      return TrustFile.parse(JSON.parse(text)).keys;
    } catch {
      throw new SallyportError("InvalidConfiguration", ...trustUnreadable(this.#file, "it is not what we write there"));
    }
  }

  find(key: string): Trusted | null {
    return this.list().find((each) => each.key === key) ?? null;
  }

  add(name: string, key: string, by: string): Trusted {
    if (!NAME.test(name)) throw new SallyportError("InvalidRequest", ...badTrustName(name));
    publicKeyOf(key);
    const known = this.list();
    const taken = known.find((each) => each.name === name || each.key === key);
    if (taken) throw new SallyportError("NameInUse", ...trustNameTaken(taken.name));
    const added = { name, key, addedAt: new Date().toISOString(), by };
    this.#store([...known, added]);
    return added;
  }

  /** By its name, or by the key itself. */
  remove(reference: string): Trusted {
    const known = this.list();
    const gone = known.find(({ name, key }) => name === reference || key === reference);
    if (!gone) throw new SallyportError("TrustNotFound", ...noSuchTrust(reference));
    this.#store(known.filter((each) => each !== gone));
    return gone;
  }

  #store(keys: Trusted[]): void {
    mkdirSync(fleetFolder(this.#state), { mode: 0o700, recursive: true });
    const draft = `${this.#file}.${randomUUID()}`;
    try {
      writeFileSync(draft, `${JSON.stringify({ version: 1, keys }, null, 2)}\n`, {
        mode: 0o600,
        flag: "wx",
        flush: true,
      });
      renameSync(draft, this.#file);
    } finally {
      rmSync(draft, { force: true });
    }
  }
}
