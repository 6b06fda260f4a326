/**
 * A person's yes on its way to another machine. The network between is not trusted: what a worker's own operator wants
 * asked runs there only with a statement that names exactly this request and this session, signed by a gateway whose key
 * that operator has put on the list.
 */
import { createHash, sign, verify } from "node:crypto";
import * as z from "zod";
import { SallyportError } from "../core/error.ts";
import { type AttestationFault, attestationRejected } from "./errors.ts";
import type { TrustedKeys } from "./keys.ts";
import { parsePublicKey, type SigningKey } from "./keys.ts";

/** Deeper than anything we send: what comes from the network must not exhaust the stack. */
const MAX_DEPTH = 64;
/**
 * The same data always gives the same text: names sorted, nothing between, what is undefined left out as JSON does. Two
 * machines that hash it hash the same bytes.
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

/** So long may work wait for a worker after a person said yes. */
export const ATTESTATION_MS = 30 * 60_000;
/** Clocks differ; one that is further ahead than this is wrong, or lies. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000;
/** What is signed begins with its purpose: a signature made for anything else is none here. */
const PURPOSE = "sallyport approval statement 1\n";

const name = z.string().min(1).max(256);

const Attestation = z.strictObject({
  version: z.literal(1),
  session: name,
  /** SHA-256 of the canonical JSON of all that decides what runs. */
  request: z.string().regex(/^[0-9a-f]{64}$/),
  /** The approval in the gateway's records, or the grants that stood for one. */
  approval: name.nullable(),
  grants: z.array(name).max(1000),
  /** Who said yes. */
  approvers: z.array(name).max(1000),
  issuedMs: z.int().min(0),
  expiresMs: z.int().min(0),
  /** The gateway's public key. */
  key: z.string().max(128),
  signature: z.string().regex(/^[\w-]{86}$/),
});
export type Attestation = z.infer<typeof Attestation>;

/** Everything that decides what runs, and for whom; a difference in any of it is another request. */
export interface ApprovedRequest {
  session: string;
  agent: string;
  /** Command, arguments, working directory, environment, stdin, confinement …: plain data, as it travels. */
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

/** Gives the statement, with the trusted gateway's name, or throws StatementRefused and says what is wrong with it. */
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
