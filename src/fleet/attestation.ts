/**
 * Signed approvals. The network between gateway and worker is not trusted: a command that the worker's policy wants
 * approved runs only with an attestation for exactly this request and session, signed by a gateway whose key the worker's
 * operator trusts.
 */
import { createHash, sign, verify } from "node:crypto";
import * as z from "zod";
import { SallyportError } from "../core/error.ts";
import { type AttestationFault, attestationRejected } from "./errors.ts";
import type { TrustedKeys } from "./keys.ts";
import { parsePublicKey, type SigningKey } from "./keys.ts";

/** Deeper than any request, so that data from the network cannot exhaust the stack. */
const MAX_DEPTH = 64;
/**
 * JSON with sorted names and without spaces: the same data always gives the same text, so that two machines hash the same
 * bytes. Undefined fields are left out, as in JSON.
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) throw new RangeError(`nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each ?? null, depth + 1)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined);
    fields.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each, depth + 1)}`).join(",")}}`;
  }
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError("a number JSON cannot hold");
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${typeof value} is not data`);
  return text;
}

/** How long a job may wait for a worker after its approval. */
export const ATTESTATION_MS = 30 * 60_000;
/** Attestations from further in the future are rejected. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000;
/** The signed text starts with its purpose, so that signatures made for other purposes are not valid here. */
const PURPOSE = "sallyport approval statement 1\n";

const name = z.string().min(1).max(256);

const Attestation = z.strictObject({
  version: z.literal(1),
  session: name,
  /** SHA-256 of the canonical JSON of the approved request. */
  request: z.string().regex(/^[0-9a-f]{64}$/),
  /** The approval in the gateway's records; null when grants took its place. */
  approval: name.nullable(),
  grants: z.array(name).max(1000),
  /** The persons who approved it. */
  approvers: z.array(name).max(1000),
  issuedMs: z.int().min(0),
  expiresMs: z.int().min(0),
  /** The gateway's public key. */
  key: z.string().max(128),
  signature: z.string().regex(/^[\w-]{86}$/),
});
export type Attestation = z.infer<typeof Attestation>;

/** Everything that decides what runs and for whom. Any difference makes it another request. */
export interface ApprovedRequest {
  session: string;
  agent: string;
  /** Command, arguments, working directory, environment, stdin, sandbox …: plain data as sent to the worker. */
  request: unknown;
}

interface Approval {
  approval: string | null;
  grants: readonly string[];
  approvers: readonly string[];
  /** Default: half an hour from now. */
  expiresMs?: number;
}

function requestHash({ session, agent, request }: ApprovedRequest): string {
  return createHash("sha256").update(canonicalJson({ session, agent, request })).digest("hex");
}

export function signApproval(key: SigningKey, what: ApprovedRequest, by: Approval, nowMs = Date.now()): Attestation {
  const body: Omit<Attestation, "signature"> = {
    version: 1,
    session: what.session,
    request: requestHash(what),
    approval: by.approval,
    grants: [...by.grants],
    approvers: [...by.approvers],
    issuedMs: nowMs,
    expiresMs: by.expiresMs ?? nowMs + ATTESTATION_MS,
    key: key.public,
  };
  return { ...body, signature: sign(null, signedBytes(body), key.private).toString("base64url") };
}

function signedBytes(body: Omit<Attestation, "signature">): Buffer {
  return Buffer.from(PURPOSE + canonicalJson(body));
}

/** Returns the attestation and the name of the trusted gateway, or throws StatementRefused with the fault. */
export function verifyAttestation(
  given: unknown,
  what: ApprovedRequest,
  trusted: Pick<TrustedKeys, "find">,
  nowMs = Date.now(),
): Attestation & { gateway: string } {
  const refuse = (fault: AttestationFault) =>
    new SallyportError("StatementRefused", ...attestationRejected(fault), { fault });
  if (given === null || given === undefined) throw refuse("unsigned");
  const parsed = Attestation.safeParse(given);
  if (!parsed.success) throw refuse("malformed");
  const { signature, ...body } = parsed.data;
  const gateway = trusted.find(body.key);
  if (!gateway) throw refuse("unknown-key");
  if (!verify(null, signedBytes(body), parsePublicKey(body.key), Buffer.from(signature, "base64url"))) {
    throw refuse("altered");
  }
  if (body.session !== what.session) throw refuse("other-session");
  if (body.request !== requestHash(what)) throw refuse("other-request");
  if (body.expiresMs <= nowMs) throw refuse("expired");
  if (body.issuedMs > nowMs + MAX_CLOCK_SKEW_MS) throw refuse("ahead");
  return { ...parsed.data, gateway: gateway.name };
}
