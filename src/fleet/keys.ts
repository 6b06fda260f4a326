import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SallyportError } from "../core/error.ts";
import { badFleetKey, fleetKeyUnusable } from "./errors.ts";

/** `ed25519:` and 32 bytes in base64url: short enough to be read out, and nothing else looks like it. */
const SHAPE = /^ed25519:([\w-]{43})$/;

/** What a gateway signs with, and by which workers know it. */
export interface SigningKey {
  readonly private: KeyObject;
  /** As `sallyport fleet key` shows it. */
  readonly public: string;
}

export function fleetFolder(state: string): string {
  return join(state, "fleet");
}

/** This gateway's own key, made when it is first needed; all gateways of a state folder share it. */
export function signingKey(state: string): SigningKey {
  const file = join(fleetFolder(state), "signing-key.pem");
  try {
    return keyOf(readOrMake(file, fleetFolder(state)));
  } catch (error) {
    throw new SallyportError("StateUnusable", ...fleetKeyUnusable(file, (error as Error).message));
  }
}

function readOrMake(file: string, folder: string): string {
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
    // Another gateway was quicker, and its key is the one.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(file, "utf8");
}

function keyOf(pem: string): SigningKey {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== "ed25519") throw new Error(`it holds a key of type ${key.asymmetricKeyType}`);
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  return { private: key, public: `ed25519:${x}` };
}

/** Throws InvalidRequest when it is not one. */
export function publicKeyOf(text: string): KeyObject {
  try {
    const [, x = ""] = SHAPE.exec(text) ?? [];
    // Node takes base64 with stray bits at its end: the same key must not have two names.
    if (Buffer.from(x, "base64url").toString("base64url") !== x) throw new Error("not canonical");
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  } catch {
    throw new SallyportError("InvalidRequest", ...badFleetKey(text));
  }
}
