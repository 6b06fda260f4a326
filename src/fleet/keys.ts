import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { SallyportError } from "../core/error.ts";
import {
  badFleetKey,
  badTrustedName,
  fleetKeyUnusable,
  trustedKeyExists,
  trustedKeyNotFound,
  trustedKeysUnreadable,
} from "./errors.ts";

/** `ed25519:` followed by 32 bytes in base64url. */
const PUBLIC_KEY = /^ed25519:([\w-]{43})$/;

/** The key pair with which a gateway signs approvals. Workers identify the gateway by its public key. */
export interface SigningKey {
  readonly private: KeyObject;
  /** The public key in the format of `sallyport fleet key`. */
  readonly public: string;
}

function fleetFolder(state: string): string {
  return join(state, "fleet");
}

/** Returns the signing key of a state folder, which all its gateways share. Creates it on first use. */
export function signingKey(state: string): SigningKey {
  const file = join(fleetFolder(state), "signing-key.pem");
  try {
    return parseSigningKey(readOrCreate(file, fleetFolder(state)));
  } catch (error) {
    throw new SallyportError("StateUnusable", ...fleetKeyUnusable(file, (error as Error).message));
  }
}

function readOrCreate(file: string, folder: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  mkdirSync(folder, { mode: 0o700, recursive: true });
  const draft = `${file}.${randomUUID()}`;
  const { privateKey } = generateKeyPairSync("ed25519");
  writeFileSync(draft, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flag: "wx", flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    // Another gateway has created the file in the meantime. Its key is used.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(file, "utf8");
}

function parseSigningKey(pem: string): SigningKey {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== "ed25519")
    throw new Error(`it contains a key of type ${key.asymmetricKeyType}, not ed25519`);
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  return { private: key, public: `ed25519:${x}` };
}

/** Parses a public key. Throws InvalidRequest when the text is not one. */
export function parsePublicKey(text: string): KeyObject {
  try {
    const [, x = ""] = PUBLIC_KEY.exec(text) ?? [];
    // Node ignores surplus bits in the last base64 character, but a key must have a single textual form.
    if (Buffer.from(x, "base64url").toString("base64url") !== x) throw new Error("not canonical");
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  } catch {
    throw new SallyportError("InvalidRequest", ...badFleetKey(text));
  }
}

const TRUSTED_NAME = /^[a-z0-9][a-z0-9_.:@-]{0,62}$/i;
const TrustedKey = z.strictObject({
  name: z.string().regex(TRUSTED_NAME),
  key: z.string(),
  addedAt: z.string(),
  by: z.string(),
});

/** A gateway whose signed approvals this machine accepts. */
export type TrustedKey = z.infer<typeof TrustedKey>;
const TrustFile = z.strictObject({ version: z.literal(1), keys: z.array(TrustedKey).max(10_000) });

/**
 * The gateways that the operator of a worker trusts, stored in the state folder, which no sandboxed command can write
 * (invariant 7). If the list cannot be read, no gateway is trusted and every lookup throws.
 */
export class TrustedKeys {
  readonly #state: string;
  readonly #file: string;

  constructor(state: string) {
    this.#state = state;
    this.#file = join(fleetFolder(state), "trusted.json");
  }

  /** Returns all trusted keys. The file is read on each call, so that removing a key takes effect at once. */
  list(): TrustedKey[] {
    let text: string;
    try {
      text = readFileSync(this.#file, "utf8");
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return [];
      throw new SallyportError("InvalidConfiguration", ...trustedKeysUnreadable(this.#file, message));
    }
    try {
      return TrustFile.parse(JSON.parse(text)).keys;
    } catch {
      throw new SallyportError(
        "InvalidConfiguration",
        ...trustedKeysUnreadable(this.#file, "its content is not valid"),
      );
    }
  }

  find(key: string): TrustedKey | null {
    return this.list().find((each) => each.key === key) ?? null;
  }

  add(name: string, key: string, by: string): TrustedKey {
    if (!TRUSTED_NAME.test(name)) throw new SallyportError("InvalidRequest", ...badTrustedName(name));
    parsePublicKey(key);
    const known = this.list();
    const taken = known.find((each) => each.name === name || each.key === key);
    if (taken) throw new SallyportError("NameInUse", ...trustedKeyExists(taken.name));
    const added = { name, key, addedAt: new Date().toISOString(), by };
    this.#store([...known, added]);
    return added;
  }

  /** Removes the gateway with this name or public key from the list. */
  remove(reference: string): TrustedKey {
    const known = this.list();
    const gone = known.find(({ name, key }) => name === reference || key === reference);
    if (!gone) throw new SallyportError("TrustNotFound", ...trustedKeyNotFound(reference));
    this.#store(known.filter((each) => each !== gone));
    return gone;
  }

  #store(keys: TrustedKey[]): void {
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
