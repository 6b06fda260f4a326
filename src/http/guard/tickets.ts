import { randomBytes } from "node:crypto";
import type { Caller } from "./caller.ts";

const LASTS_MS = 30_000;
/** The maximum number of unused tickets. The oldest is dropped when there are more. */
const MAX_TICKETS = 4096;
const SECRET_BYTES = 32;

interface Ticket {
  caller: Caller;
  path: string;
  expiresMs: number;
}

/**
 * One-time secrets for addresses that a browser opens without headers: event streams and downloads. An address ends up
 * in histories and logs, so it must not contain a secret that can be used again (invariant 7).
 */
export class Tickets {
  readonly #unused = new Map<string, Ticket>();

  /** Creates a ticket with which the caller can read this path once. */
  issue(caller: Caller, path: string): string {
    const ticket = randomBytes(SECRET_BYTES).toString("base64url");
    this.#unused.set(ticket, { caller, path, expiresMs: performance.now() + LASTS_MS });
    const [oldest] = this.#unused.keys();
    if (this.#unused.size > MAX_TICKETS && oldest !== undefined) this.#unused.delete(oldest);
    return ticket;
  }

  /** Redeems a ticket. Returns null if it is unknown, used or expired, or was issued for another path. */
  redeem(ticket: string, path: string): Caller | null {
    const found = this.#unused.get(ticket);
    this.#unused.delete(ticket);
    if (!found || found.path !== path || found.expiresMs < performance.now()) return null;
    return found.caller.isGood() ? { ...found.caller } : null;
  }
}
