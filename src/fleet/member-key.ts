import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import { credentialsUnusable } from "./errors.ts";
import { checkedName } from "./subjects.ts";

/** The public nkey of a member whose seed is in this folder as `<kind>-<name>.seed`; made if it is not there. */
export function memberKey(folder: string, { kind, name }: { kind: "gateway" | "worker"; name: string }): string {
  const file = join(folder, `${kind}-${checkedName(kind, name)}.seed`);
  try {
    return nkeys.fromSeed(readFileSync(file).subarray(0, 58)).getPublicKey();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      throw new SallyportError("InvalidConfiguration", ...credentialsUnusable(file, (error as Error).message));
    }
  }
  const made = nkeys.createUser();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(file, `${Buffer.from(made.getSeed())}\n`, { mode: 0o600, flag: "wx" });
  return made.getPublicKey();
}
