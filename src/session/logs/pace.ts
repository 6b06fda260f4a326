import { setImmediate } from "node:timers/promises";

const BYTES_PER_TURN = 256 * 1024;

/** Work done since others could run. */
export interface Pace {
  bytes: number;
}

/** Lets others run after each 256 KiB: reading is synchronous, and a log may have gigabytes. */
export async function keepPace(pace: Pace, bytes: number): Promise<void> {
  pace.bytes += bytes;
  if (pace.bytes < BYTES_PER_TURN) return;
  pace.bytes = 0;
  await setImmediate();
}
