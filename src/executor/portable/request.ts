import { isAbsolute } from "node:path";
import type { LaunchSpec } from "../../core/launch.ts";
import { NO_LIMITS } from "../../core/launch.ts";
import { BACKGROUND, FSYNC, TAG } from "../native/frames.ts";

/** A decoded run frame. */
export interface LaunchRequest {
  spec: LaunchSpec;
  umask: number;
  announceMs: number;
}

type Fields = Map<number, Buffer>;

const KNOWN = new Set<number>([
  ...[TAG.id, TAG.title, TAG.file, TAG.path, TAG.argv, TAG.env, TAG.cwd, TAG.stdin, TAG.stdinText, TAG.capture],
  ...[
    TAG.timeout,
    TAG.grace,
    TAG.diskCap,
    TAG.log,
    TAG.flags,
    TAG.umask,
    TAG.announce,
    TAG.root,
    TAG.terminal,
    TAG.label,
  ],
]);

/** The format of an ID. It is used as the name of a folder, so it must not contain `/` or `..` (invariant 7). */
const ID = /^[0-9a-f-]{8,64}$/;

/** A request that does not follow the protocol. The message is sent to the gateway. */
export class InvalidRequest extends Error {}

/** Decodes a frame of `encodeRun`. Throws `InvalidRequest`. */
export function decodeRun(payload: Buffer): LaunchRequest {
  const fields = split(payload);
  const stdin = number(fields, TAG.stdin);
  const capture = number(fields, TAG.capture);
  if (stdin > 2 || capture > 1) throw new InvalidRequest("unknown stdin or capture mode");
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
  const label = text(fields, TAG.label);
  if (label !== null) spec.label = label;
  check(spec);
  return { spec, umask: number(fields, TAG.umask, 0o22) & 0o777, announceMs: number(fields, TAG.announce) };
}

function split(payload: Buffer): Fields {
  const fields: Fields = new Map();
  for (let at = 0; at < payload.length; ) {
    if (payload.length - at < 6) throw new InvalidRequest("truncated field");
    const tag = payload.readUInt16LE(at);
    const end = at + 6 + payload.readUInt32LE(at + 2);
    if (end > payload.length) throw new InvalidRequest("field longer than its frame");
    // An unknown field could be a sandbox or a limit, so it must not be ignored.
    if (!KNOWN.has(tag)) throw new InvalidRequest("unknown field");
    fields.set(tag, payload.subarray(at + 6, end));
    at = end;
  }
  return fields;
}

/** Decodes a text field. It must not contain a NUL before its end, where the system would truncate it (invariant 2). */
function text(fields: Fields, tag: number): string | null {
  const bytes = fields.get(tag);
  if (bytes === undefined) return null;
  if (bytes.indexOf(0) !== bytes.length - 1)
    throw new InvalidRequest("text field without a NUL byte at its end, or with another one before it");
  return bytes.toString("utf8", 0, bytes.length - 1);
}

function texts(fields: Fields, tag: number): string[] {
  const bytes = fields.get(tag);
  if (bytes === undefined || bytes.length === 0) return [];
  if (bytes.at(-1) !== 0) throw new InvalidRequest("list field without a NUL byte at its end");
  return bytes.toString("utf8", 0, bytes.length - 1).split("\0");
}

function environment(pairs: string[]): Record<string, string> {
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}

function number(fields: Fields, tag: number, missing = 0): number {
  const bytes = fields.get(tag);
  if (bytes === undefined) return missing;
  const value = bytes.length === 8 ? Number(bytes.readBigInt64LE()) : bytes.readUIntLE(0, Math.min(6, bytes.length));
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidRequest("number out of range");
  return value;
}

function size(bytes: Buffer | undefined): LaunchSpec["pty"] {
  if (bytes === undefined) return null;
  if (bytes.length !== 4) throw new InvalidRequest("malformed terminal size");
  const [columns, rows] = [bytes.readUInt16LE(0), bytes.readUInt16LE(2)];
  if (columns === 0 || rows === 0) throw new InvalidRequest("terminal size of 0");
  return { columns, rows };
}

/** Checks the fields of a spec, except for its paths, which are checked when they are opened. */
function check({ id, file, argv, cwd, pty, stdin, capture }: LaunchSpec): void {
  if (!ID.test(id)) throw new InvalidRequest("invalid id");
  if (file === "") throw new InvalidRequest("missing program");
  if (argv.length === 0) throw new InvalidRequest("missing arguments");
  if (!isAbsolute(cwd)) throw new InvalidRequest("working directory is not absolute");
  if (pty && (stdin !== "open" || capture !== "merged"))
    throw new InvalidRequest("a terminal requires open stdin and merged capture");
}
