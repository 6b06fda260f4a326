import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { JetStreamApiError, type JetStreamClient, jetstream } from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import type { Authenticator, NatsConnection } from "@nats-io/transport-node";
import { connect, credsAuthenticator, nkeyAuthenticator, PermissionViolationError } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { FleetOptions } from "../core/settings.ts";
import { credentialsUnusable, fleetRefused, fleetUnreachable } from "./errors.ts";
import {
  inboxPrefix,
  type StoreNames,
  type Subjects,
  sanitizeName,
  storeNames,
  subjectsOf,
  validateName,
} from "./subjects.ts";

export const DEFAULT_FLEET = "main";
const CONNECT_TIMEOUT_MS = 4000;

interface Member {
  connection: NatsConnection;
  fleet: string;
  name: string;
}

/** Connects to the servers and reconnects without limit. */
export async function joinFleet(options: FleetOptions, kind: "gateway" | "worker"): Promise<Member> {
  const fleet = validateName("fleet", options.name ?? DEFAULT_FLEET);
  const name = options.as === undefined ? sanitizeName(hostname()) : validateName(kind, options.as);
  const servers = typeof options.servers === "string" ? options.servers.split(",") : [...options.servers];
  const { ca, cert, key } = options.tls ?? {};
  const tls = {
    ...(ca === undefined ? {} : { caFile: ca }),
    ...(cert === undefined ? {} : { certFile: cert }),
    ...(key === undefined ? {} : { keyFile: key }),
  };
  const wantsTls = options.tls !== undefined || servers.some((server) => server.startsWith("tls:"));
  const authenticator = options.credentials === undefined ? null : readCredentials(options.credentials);
  try {
    const connection = await connect({
      servers,
      name: `sallyport ${kind} ${name}`,
      inboxPrefix: inboxPrefix(fleet, kind, name),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      timeout: CONNECT_TIMEOUT_MS,
      pingInterval: 5000,
      maxPingOut: 2,
      // Capturing a stack trace for each request costs more than the request itself.
      noAsyncTraces: true,
      ...(wantsTls ? { tls } : {}),
      ...(authenticator ? { authenticator } : {}),
    });
    return { connection, fleet, name };
  } catch (error) {
    throw connectError(servers, error as Error);
  }
}

function connectError(servers: string[], error: Error): SallyportError {
  const refused = error.name === "AuthorizationError" || error.name === "UserAuthenticationExpiredError";
  const { message, cause } = error as Error & { cause?: Error };
  const why = cause?.message && !message.includes(cause.message) ? `${message}: ${cause.message}` : message;
  const text = refused ? fleetRefused(servers, why) : fleetUnreachable(servers, why);
  return new SallyportError("FleetUnreachable", ...text);
}

/** Reads an nkey seed or a .creds file. */
function readCredentials(file: string): Authenticator {
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch (error) {
    throw new SallyportError("InvalidConfiguration", ...credentialsUnusable(file, (error as Error).message));
  }
  if (content.includes("BEGIN NATS USER JWT")) return credsAuthenticator(content);
  const seed = content.toString("utf8").trim();
  if (!/^SU[A-Z2-7]{56}$/.test(seed)) {
    const why = "it contains neither a user nkey seed (SU...) nor a user JWT";
    throw new SallyportError("InvalidConfiguration", ...credentialsUnusable(file, why));
  }
  return nkeyAuthenticator(Buffer.from(seed));
}

/** A member's connection to its fleet, with its subjects and buckets. */
export interface FleetConnection {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly fleet: string;
  /** The name of this member. */
  readonly name: string;
  readonly subjects: Subjects;
  readonly stores: StoreNames;
  readonly sessions: KV;
  readonly workers: KV;
  readonly places: KV;
}

export async function openConnection(options: FleetOptions, kind: "gateway" | "worker"): Promise<FleetConnection> {
  const { connection: nc, fleet, name } = await joinFleet(options, kind);
  const js = jetstream(nc);
  const stores = storeNames(fleet);
  const kvm = new Kvm(js);
  // The buckets are opened without checking that they exist: workers create them.
  const open = (bucket: string) => kvm.open(bucket);
  const [sessions, workers, places] = [open(stores.sessions), open(stores.workers), open(stores.places)];
  const subjects = subjectsOf(fleet);
  return {
    nc,
    js,
    fleet,
    name,
    subjects,
    stores,
    sessions: await sessions,
    workers: await workers,
    places: await places,
  };
}

/** JetStream error codes for "wrong last sequence", on a single server and in a cluster. */
const CONFLICT_CODES: ReadonlySet<number> = new Set([10071, 10164]);

/** How long operations are retried: servers do not respond while they restart or elect a leader. */
const RETRY_FOR_MS = 8000;
const FIRST_DELAY_MS = 20;
const LONGEST_DELAY_MS = 500;

export function isConflict(error: unknown): boolean {
  return error instanceof JetStreamApiError && CONFLICT_CODES.has(error.code);
}

/** Calls `attempt` again while the servers do not respond. A rejection is thrown at once. */
export async function withRetry<T>(attempt: () => Promise<T>, retryForMs = RETRY_FOR_MS): Promise<T> {
  const end = performance.now() + retryForMs;
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * 2, LONGEST_DELAY_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (isRejected(error)) throw error;
      if ((error as Error).name === "ClosedConnectionError" || performance.now() + delay > end) throw error;
      await sleep(delay);
    }
  }
}

/** Reports whether the servers rejected the request, so that retrying is pointless. */
export function isRejected(error: unknown): boolean {
  if (error instanceof JetStreamApiError) return !isTransient(error);
  return (error as Error).cause instanceof PermissionViolationError;
}

/** Reports whether the servers have no leader or are overloaded, so that a retry may succeed. */
function isTransient({ status }: JetStreamApiError): boolean {
  return status === 503 || status === 500;
}
