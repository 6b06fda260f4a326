import { isAbsolute } from "node:path";
import type { LaunchSpec } from "../../core/launch.ts";
import { NO_LIMITS } from "../../core/launch.ts";
import { BACKGROUND, FSYNC, TAG } from "../native/frames.ts";

/** A decoded request: the spec, and what the gateway adds to it. */
export interface LaunchRequest {
  spec: LaunchSpec;
  umask: number;
  announceMs: number;
}

type Fields = Map<number, Buffer>;

const KNOWN = new Set<number>([
  ...[TAG.id, TAG.title, TAG.file, TAG.path, TAG.argv, TAG.env, TAG.cwd, TAG.stdin, TAG.stdinText, TAG.capture],
  ...[TAG.timeout, TAG.grace, TAG.diskCap, TAG.log, TAG.flags, TAG.umask, TAG.announce, TAG.root, TAG.terminal],
]);

/** The id is the name of a folder: the characters of a UUID cannot lead outside (promise 7). */
const ID = /^[0-9a-f-]{8,64}$/;

/** The message says what is wrong with the request. */
export class InvalidRequest extends Error {}

/** Decodes a frame of `encodeRun`. Throws `InvalidRequest`. */
export function decodeRun(payload: Buffer): LaunchRequest {
  const fields = split(payload);
  const stdin = number(fields, TAG.stdin);
  const capture = number(fields, TAG.capture);
  if (stdin > 2 || capture > 1) throw new InvalidRequest("an unknown mode");
  const flags = number(fields, TAG.flags);
  const spec: LaunchSpec = {
    id: text(fields, TAG.id) ?? "",
    title: text(fields, TAG.title) ?? "",
    file: text(fields, TAG.file) ?? "",
    path: text(fields, TAG.path) ?? "",
    argv: texts(fields, TAG.argv),
    env: environment(texts(fields, TAG.env)),
    cwd: text(fields, TAG.cwd) ?? "",
    root: text(fields, TAG.root),
    stdin: stdin === 0 ? "none" : stdin === 2 ? "open" : { text: (fields.get(TAG.stdinText) ?? "").toString() },
    capture: capture === 1 ? "merged" : "apart",
    pty: size(fields.get(TAG.terminal)),
    timeoutMs: number(fields, TAG.timeout),
    graceMs: number(fields, TAG.grace, 5000),
    diskCap: number(fields, TAG.diskCap),
    logFile: text(fields, TAG.log),
    limits: NO_LIMITS,
    sandbox: null,
    background: (flags & BACKGROUND) !== 0,
    durable: (flags & FSYNC) !== 0,
  };
  check(spec);
  return { spec, umask: number(fields, TAG.umask, 0o22) & 0o777, announceMs: number(fields, TAG.announce) };
}

function split(payload: Buffer): Fields {
  const fields: Fields = new Map();
  for (let at = 0; at < payload.length; ) {
    if (payload.length - at < 6) throw new InvalidRequest("a field is cut short");
    const tag = payload.readUInt16LE(at);
    const end = at + 6 + payload.readUInt32LE(at + 2);
    if (end > payload.length) throw new InvalidRequest("a field is longer than its frame");
    // An unknown field could be a sandbox or a limit, which this keeper must not ignore.
    if (!KNOWN.has(tag)) throw new InvalidRequest("an unknown field");
    fields.set(tag, payload.subarray(at + 6, end));
    at = end;
  }
  return fields;
}

/** One NUL, at the end: with a second one, another command would run than the one that was checked (promise 2). */
function text(fields: Fields, tag: number): string | null {
  const bytes = fields.get(tag);
  if (bytes === undefined) return null;
  if (bytes.indexOf(0) !== bytes.length - 1) throw new InvalidRequest("a text field is not one text");
  return bytes.toString("utf8", 0, bytes.length - 1);
}

function texts(fields: Fields, tag: number): string[] {
  const bytes = fields.get(tag);
  if (bytes === undefined || bytes.length === 0) return [];
  if (bytes.at(-1) !== 0) throw new InvalidRequest("a list field does not end with a text");
  return bytes.toString("utf8", 0, bytes.length - 1).split("\0");
}

function environment(pairs: string[]): Record<string, string> {
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}

function number(fields: Fields, tag: number, missing = 0): number {
  const bytes = fields.get(tag);
  if (bytes === undefined) return missing;
  const value = bytes.length === 8 ? Number(bytes.readBigInt64LE()) : bytes.readUIntLE(0, Math.min(6, bytes.length));
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidRequest("a number out of range");
  return value;
}

function size(bytes: Buffer | undefined): LaunchSpec["pty"] {
  if (bytes === undefined) return null;
  if (bytes.length !== 4) throw new InvalidRequest("a terminal's size is not two numbers");
  const [columns, rows] = [bytes.readUInt16LE(0), bytes.readUInt16LE(2)];
  if (columns === 0 || rows === 0) throw new InvalidRequest("a terminal without a size");
  return { columns, rows };
}

/** The paths are checked when they are opened. */
function check({ id, file, argv, cwd, pty, stdin, capture }: LaunchSpec): void {
  if (!ID.test(id)) throw new InvalidRequest("no valid id");
  if (file === "") throw new InvalidRequest("no file to run");
  if (argv.length === 0) throw new InvalidRequest("no arguments");
  if (!isAbsolute(cwd)) throw new InvalidRequest("no absolute working directory");
  if (pty && (stdin !== "open" || capture !== "merged"))
    throw new InvalidRequest("a terminal with another stdin or output");
}
