import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "./connection.ts";
import type { Door } from "./door.ts";

/** How long commands that were cancelled may take to end; their keepers see it through in any case. */
const LAST_CALLS_MS = 10_000;

/**
 * What is left to do when a client is gone. Its foreground commands were cancelled with their calls; its background
 * sessions stay, unless they are to go too.
 */
export async function leave(door: Door, connection: Connection): Promise<void> {
  await Promise.race([ended(door, connection), sleep(LAST_CALLS_MS, undefined, { ref: false })]);
}

async function ended(door: Door, connection: Connection): Promise<void> {
  await connection.idle();
  if (connection.background.length === 0) return;
  const gateway = await door.gateway();
  await Promise.allSettled(connection.background.map((id) => gateway.session(id).kill()));
}
