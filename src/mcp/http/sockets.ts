import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

/** How long a connection may take to send the headers of its first request. */
const HEADERS_TIMEOUT_MS = 10_000;

/** Connections on which a caller has authenticated. */
const authenticated = new WeakSet<Socket>();

/** Marks the connection of a request as that of an authenticated caller, which is not closed to make room. */
export function markAuthenticated({ socket }: Pick<IncomingMessage, "socket">): void {
  authenticated.add(socket);
}

/**
 * Limits the number of open connections. When the limit is reached, the oldest connection without an authenticated
 * caller is closed to make room. Any process on this machine can open connections, so a limit that only refused new
 * ones would let a command lock the operator out (invariant 6).
 */
export function limitSockets(server: Server, most: number): void {
  const open = new Set<Socket>();
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    if (open.size > most) (oldestStranger(open) ?? socket).destroy();
  });
}

/** A set iterates in the order of insertion, and authenticated connections at its start are moved to its end. */
function oldestStranger(open: Set<Socket>): Socket | null {
  let checked = open.size;
  for (const socket of open) {
    if (!authenticated.has(socket)) return socket;
    open.delete(socket);
    open.add(socket);
    if (--checked === 0) return null;
  }
  return null;
}
