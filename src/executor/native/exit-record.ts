import { existsSync, renameSync, writeFileSync } from "node:fs";
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
  outOfMemory: z.boolean().optional(),
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
  nuls: z.array(count).max(2).optional(),
});

/** The files of the record: complete, and reserved for a command that has not ended. */
const [RECORD, RESERVED] = ["exit", "exit.new"];

/**
 * Reads the exit record of a session folder, which is the first line of its file. Returns null if it is missing or
 * invalid. Throws if descriptors are exhausted.
 */
export function readExitRecord(folder: string): ExitRecord | null {
  return parsed(ExitRecordSchema, linesOf(folder, RECORD)[0]);
}

/** Replaces the record of a session whose output is incomplete on this disk. Does nothing if its folder is missing. */
export function rewriteExitRecord(folder: string, record: ExitRecord): void {
  if (!existsSync(folder)) return;
  const [, label = ""] = linesOf(folder, RECORD);
  writeFileSync(join(folder, RESERVED), `${JSON.stringify(record)}\n${label}\n`, { mode: 0o600, flush: true });
  renameSync(join(folder, RESERVED), join(folder, RECORD));
}

/** What a gateway knew about a session when it started it. */
const Label = z.object({
  agent: z.string(),
  name: z.string(),
  command: z.string(),
  cwd: z.string(),
  background: z.boolean(),
  capture: z.enum(["apart", "merged"]),
  createdMs: z.number(),
});
export type SessionLabel = z.infer<typeof Label>;

/**
 * Reads the label of a session, which the keeper keeps beside the exit record, or where that will be written. Returns
 * null if it is missing or invalid.
 */
export function readLabel(folder: string): SessionLabel | null {
  return parsed(Label, linesOf(folder, RECORD)[1]) ?? parsed(Label, linesOf(folder, RESERVED)[0]);
}

function linesOf(folder: string, name: string): string[] {
  return readIfExists(join(folder, name))?.split("\n") ?? [];
}

function parsed<T>(schema: z.ZodType<T>, text: string | undefined): T | null {
  if (text === undefined) return null;
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
