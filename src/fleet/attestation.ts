/**
 * Signed approvals (attestations). The network between gateway and worker is not trusted: if the worker's policy
 * requires approval for a command, it runs only with an attestation for exactly this request and session, signed by a
 * gateway whose key the worker's operator trusts.
 */
import { createHash, sign, verify } from "node:crypto";
import * as z from "zod";
import { SallyportError } from "../core/error.ts";
import { type AttestationFault, attestationRejected } from "./errors.ts";
import type { TrustedKeys } from "./keys.ts";
import { parsePublicKey, type SigningKey } from "./keys.ts";

/** Maximum nesting depth, so that data from the network cannot exhaust the stack. */
const MAX_DEPTH = 64;

/**
 * Serializes data as JSON with sorted keys and without spaces. Equal data always gives the same text, so that gateway
 * and worker hash the same bytes. Undefined fields are omitted, as in JSON.
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) throw new RangeError(`nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each ?? null, depth + 1)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined);
    fields.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each, depth + 1)}`).join(",")}}`;
  }
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError(`${value} is not valid in JSON`);
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`a ${typeof value} is not valid in JSON`);
  return text;
}

/** How long an attestation is valid: a job may wait this long for a worker after its approval. */
export const ATTESTATION_MS = 30 * 60_000;
/** Attestations issued further in the future than this are rejected. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000;
/** Prefix of the signed text, so that signatures made with the same key for other purposes are not valid here. */
const PURPOSE = "sallyport approval statement 1\n";

const name = z.string().min(1).max(256);

const Attestation = z.strictObject({
  version: z.literal(1),
  session: name,
  /** SHA-256 of the canonical JSON of the approved request. */
  request: z.string().regex(/^[0-9a-f]{64}$/),
  /** The ID of the approval on the gateway. Null when grants permitted the command instead. */
  approval: name.nullable(),
  grants: z.array(name).max(1000),
  /** The people who approved the command. */
  approvers: z.array(name).max(1000),
  issuedMs: z.int().min(0),
  expiresMs: z.int().min(0),
  /** The gateway's public key. */
  key: z.string().max(128),
  signature: z.string().regex(/^[\w-]{86}$/),
});
export type Attestation = z.infer<typeof Attestation>;

/** The fields that determine what runs and for whom. An approval is valid for exactly these values. */
export interface ApprovedRequest {
  session: string;
  agent: string;
  /** Command, arguments, working directory, environment, stdin, sandbox and so on, as sent to the worker. */
  request: unknown;
}

interface Approval {
  approval: string | null;
  grants: readonly string[];
  approvers: readonly string[];
  /** Default: 30 minutes from now. */
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

/**
 * Verifies an attestation and returns it with the name of the trusted gateway. Throws StatementRefused with the fault.
 */
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
