import type { ExitRecord } from "./executor.ts";

/** The exit record of a command that never ran and has no keeper to write one. */
export function unstartedRecord(step: string): ExitRecord {
  const now = Date.now() * 1000;
  return {
    reason: "failed",
    step,
    errno: 0,
    pid: 0,
    code: null,
    signal: 0,
    core: false,
    startedUs: now,
    endedUs: now,
    durationUs: 0,
    userUs: 0,
    systemUs: 0,
    maxRssKib: 0,
    readBytes: 0,
    writeBytes: 0,
    leftover: 0,
    final: true,
    streams: [],
  };
}

/** Whether `withinMs` have passed since `askedMs`. A time far in the future counts too: the clock was set back. */
export function isOverdue(askedMs: number, withinMs: number): boolean {
  return Math.abs(Date.now() - askedMs) > withinMs;
}
