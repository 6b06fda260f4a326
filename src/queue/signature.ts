import { createHmac } from "node:crypto";

/**
 * Proves to a receiver who sent a body and when. The time is signed with it, so that a recorded call cannot be played
 * back later: a receiver refuses old times.
 */
export function signatureOf(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}
