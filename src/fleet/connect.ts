import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import {
  type Authenticator,
  connect,
  credsAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
} from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { FleetOptions } from "../core/settings.ts";
import { credentialsUnusable, fleetRefused, fleetUnreachable } from "./errors.ts";
import { checkedName, inboxOf, nameFrom } from "./subjects.ts";

export const DEFAULT_FLEET = "main";

/** A server that takes the connection and then says nothing is not one. */
const CONNECT_MS = 4000;

interface Member {
  connection: NatsConnection;
  fleet: string;
  name: string;
}

/** Connects, and stays connected: a server that goes away is looked for again for ever. */
export async function joinFleet(options: FleetOptions, kind: "gateway" | "worker"): Promise<Member> {
  const fleet = checkedName("fleet", options.name ?? DEFAULT_FLEET);
  const name = options.as === undefined ? nameFrom(hostname()) : checkedName(kind, options.as);
  const servers = typeof options.servers === "string" ? options.servers.split(",") : [...options.servers];
  const { ca, cert, key } = options.tls ?? {};
  const tls = {
    ...(ca === undefined ? {} : { caFile: ca }),
    ...(cert === undefined ? {} : { certFile: cert }),
    ...(key === undefined ? {} : { keyFile: key }),
  };
  const wantsTls = options.tls !== undefined || servers.some((server) => server.startsWith("tls:"));
  const authenticator = options.credentials === undefined ? null : authenticatorOf(options.credentials);
  try {
    const connection = await connect({
      servers,
      name: `sallyport ${kind} ${name}`,
      inboxPrefix: inboxOf(fleet, kind, name),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      timeout: CONNECT_MS,
      pingInterval: 5000,
      maxPingOut: 2,
      // A stack for each request in case it fails costs more than the request.
      noAsyncTraces: true,
      ...(wantsTls ? { tls } : {}),
      ...(authenticator ? { authenticator } : {}),
    });
    return { connection, fleet, name };
  } catch (error) {
    throw unreachable(servers, error as Error);
  }
}

function unreachable(servers: string[], error: Error): SallyportError {
  const refused = error.name === "AuthorizationError" || error.name === "UserAuthenticationExpiredError";
  const { message, cause } = error as Error & { cause?: Error };
  const why = cause?.message && !message.includes(cause.message) ? `${message}: ${cause.message}` : message;
  const words = refused ? fleetRefused(servers, why) : fleetUnreachable(servers, why);
  return new SallyportError("FleetUnreachable", ...words);
}

/** The file says by itself which kind it is. */
function authenticatorOf(file: string): Authenticator {
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch (error) {
    throw new SallyportError("InvalidConfiguration", ...credentialsUnusable(file, (error as Error).message));
  }
  if (content.includes("BEGIN NATS USER JWT")) return credsAuthenticator(content);
  const seed = content.toString("utf8").trim();
  if (!/^SU[A-Z2-7]{56}$/.test(seed)) {
    const why = "it holds neither a user's nkey seed (SU…) nor a user's JWT";
    throw new SallyportError("InvalidConfiguration", ...credentialsUnusable(file, why));
  }
  return nkeyAuthenticator(Buffer.from(seed));
}
