import { join } from "node:path";
import * as z from "zod";
import { readIfExists } from "../errors.ts";
import type { ExitRecord } from "../execution.ts";

const count = z.number().min(0);

/**
 * The format of the keeper's exit record. It is validated because a full disk or tampering may have damaged the file.
 */
export const ExitRecordSchema = z.object({
  reason: z.enum(["exited", "timeout", "killed", "failed", "limit", "mask", "input"]),
  pid: count,
  code: z.number().nullable(),
  signal: count,
  core: z.boolean(),
  step: z.string().optional(),
  errno: z.number().optional(),
  startedUs: z.number(),
  endedUs: z.number(),
  durationUs: z.number(),
  userUs: count,
  systemUs: count,
  maxRssKib: count,
  readBytes: count,
  writeBytes: count,
  limit: z.object({ kind: z.enum(["memory", "processes", "disk", "fileSize"]), value: count, peak: count }).optional(),
  treePeakBytes: count.optional(),
  treeCpuUs: count.optional(),
  loose: z.array(z.enum(["memory", "processes", "cpu"])).optional(),
  leftover: count,
  final: z.boolean(),
  gaps: z.array(z.string()).optional(),
  masks: z.object({ reaction: z.enum(["kill", "warn"]), count, paths: z.array(z.string()) }).optional(),
  created: z.object({ count, paths: z.array(z.string()) }).optional(),
  input: z
    .object({
      program: z.string(),
      source: z.enum(["terminal", "stdin", "output"]),
      hidden: z.boolean(),
      lines: z.boolean(),
      events: z.boolean(),
    })
    .optional(),
  streams: z.array(z.object({ bytes: count, droppedStart: count, droppedEnd: count, lost: count })).max(2),
});

/**
 * Reads the exit record of a session folder. Returns null if it is missing or invalid. Throws if descriptors are
 * exhausted.
 */
export function readExitRecord(folder: string): ExitRecord | null {
  const text = readIfExists(join(folder, "exit"));
  if (text === null) return null;
  try {
    return ExitRecordSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
