import { callerUmask } from "../../core/caller.ts";
import type { LaunchLimits, LaunchSpec, SandboxSpec } from "../../core/launch.ts";
import type { TerminalSize } from "../../core/terminal.ts";
import type { KillRequest } from "../execution.ts";

/** The tags of the sandbox fields in a run frame, as in native/sandbox/spec.h. */
const SANDBOX_TAG = {
  sandbox: 22,
  writable: 23,
  readOnly: 24,
  denied: 25,
  temporary: 26,
  network: 27,
  ports: 28,
  user: 29,
  masked: 30,
  sockets: 31,
  readable: 33,
  held: 34,
  binds: 35,
  absent: 38,
} as const;
const ISOLATED = 1;
const REQUIRE = 2;
const MASK_WARN = 4;

function paths(list: string[]): Buffer {
  return Buffer.from(list.map((path) => `${path}\0`).join(""));
}

function numbers(values: number[], width: 2 | 4): Buffer {
  const bytes = Buffer.alloc(values.length * width);
  for (const [index, value] of values.entries()) bytes.writeUIntLE(value, index * width, width);
  return bytes;
}

/** Encoded sandboxes. Most commands share one, and its path lists are long. */
const encoded = new WeakMap<SandboxSpec, readonly [number, Buffer][]>();

function sandboxFields(spec: SandboxSpec): readonly [number, Buffer][] {
  const known = encoded.get(spec);
  if (known) return known;
  const fields = encodeSandbox(spec);
  encoded.set(spec, fields);
  return fields;
}

function flagsOf({ isolated, require, maskFailure }: SandboxSpec): number {
  return (isolated ? ISOLATED : 0) | (require ? REQUIRE : 0) | (maskFailure === "warn" ? MASK_WARN : 0);
}

function encodeSandbox(spec: SandboxSpec): [number, Buffer][] {
  const { network, user } = spec;
  const mode = network === "on" ? 0 : network === "off" ? 1 : 2;
  const fields: [number, Buffer][] = [
    [SANDBOX_TAG.sandbox, numbers([flagsOf(spec)], 4)],
    [SANDBOX_TAG.writable, paths(spec.writable)],
    [SANDBOX_TAG.readOnly, paths(spec.readOnly)],
    [SANDBOX_TAG.denied, paths(spec.denied)],
    [SANDBOX_TAG.masked, paths(spec.masked)],
    [SANDBOX_TAG.held, paths(spec.held)],
    [SANDBOX_TAG.readable, paths(spec.readable)],
    [SANDBOX_TAG.binds, paths(spec.binds.flatMap(({ at, source }) => [at, source]))],
    [SANDBOX_TAG.absent, paths(spec.absent)],
    [SANDBOX_TAG.sockets, paths(spec.sockets)],
    [SANDBOX_TAG.network, Buffer.from([mode])],
  ];
  if (spec.temporary !== null) fields.push([SANDBOX_TAG.temporary, paths([spec.temporary])]);
  if (typeof network === "object") fields.push([SANDBOX_TAG.ports, numbers(network.ports, 2)]);
  if (user !== null) fields.push([SANDBOX_TAG.user, numbers([user.uid, user.gid, ...user.groups], 4)]);
  return fields;
}

/**
 * The types of frames to the keeper, as in native/ipc/request.h. A frame is a u32 length, a u8 type and the payload.
 */
export const TYPE = {
  run: 1,
  write: 2,
  closeStdin: 3,
  signal: 4,
  deadline: 5,
  watch: 6,
  detach: 7,
  stat: 8,
  resize: 9,
  inputState: 10,
  inputWait: 11,
} as const;
export const TAG = {
  id: 1,
  title: 2,
  file: 3,
  path: 4,
  argv: 5,
  env: 6,
  cwd: 7,
  stdin: 8,
  stdinText: 9,
  capture: 10,
  timeout: 11,
  grace: 12,
  diskCap: 13,
  log: 14,
  flags: 15,
  umask: 16,
  announce: 17,
  root: 18,
  processes: 19,
  openFiles: 20,
  fileSize: 21,
  terminal: 40,
  memory: 45,
  cpuMilli: 46,
  disk: 47,
  exactProcesses: 48,
  label: 49,
} as const;
export const BACKGROUND = 1;
export const FSYNC = 2;
/** The keeper announces the start of a foreground command after this time, unless it has ended. */
const ANNOUNCE_MS = 25;

export const RUN_FRAME_MAX = 32 << 20;
export const WRITE_MAX = 128 << 10;

function frame(type: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const bytes = Buffer.allocUnsafe(5 + payload.length);
  bytes.writeUInt32LE(1 + payload.length, 0);
  bytes[4] = type;
  bytes.set(payload, 5);
  return bytes;
}

function list(texts: string[]): string {
  return texts.length === 0 ? "" : `${texts.join("\0")}\0`;
}

/** The last encoded environment. Encoding it takes most of the time, and it usually does not change. */
let lastEnv: Record<string, string> | null = null;
let lastEnvBytes: Buffer = Buffer.alloc(0);

function encodeEnv(env: Record<string, string>): Buffer {
  if (env !== lastEnv) {
    lastEnvBytes = Buffer.from(list(Object.entries(env).map(([name, value]) => `${name}=${value}`)));
    lastEnv = env;
  }
  return lastEnvBytes;
}

function integer(value: number, width: 1 | 4 | 8): Buffer {
  const bytes = Buffer.alloc(width);
  if (width === 8) bytes.writeBigInt64LE(BigInt(value));
  else bytes.writeUIntLE(value, 0, width);
  return bytes;
}

function size({ columns, rows }: TerminalSize): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16LE(columns, 0);
  bytes.writeUInt16LE(rows, 2);
  return bytes;
}

function limitFields(limits: LaunchLimits): [number, Buffer][] {
  const { processes, exactProcesses, openFiles, fileSize, cpu, memoryBytes, diskBytes } = limits;
  const fields: [number, Buffer][] = [];
  if (processes !== null) fields.push([TAG.processes, integer(processes, 8)]);
  if (exactProcesses) fields.push([TAG.exactProcesses, integer(1, 1)]);
  if (openFiles !== null) fields.push([TAG.openFiles, integer(openFiles, 8)]);
  if (fileSize !== null) fields.push([TAG.fileSize, integer(fileSize, 8)]);
  if (cpu !== null) fields.push([TAG.cpuMilli, integer(Math.max(1, Math.round(cpu * 1000)), 8)]);
  if (memoryBytes !== null) fields.push([TAG.memory, integer(memoryBytes, 8)]);
  if (diskBytes !== null) fields.push([TAG.disk, integer(diskBytes, 8)]);
  return fields;
}

export function encodeRun(spec: LaunchSpec): Buffer {
  const fields: [number, Buffer][] = [
    [TAG.id, Buffer.from(`${spec.id}\0`)],
    [TAG.title, Buffer.from(`${spec.title}\0`)],
    [TAG.file, Buffer.from(`${spec.file}\0`)],
    [TAG.path, Buffer.from(`${spec.path}\0`)],
    [TAG.argv, Buffer.from(list(spec.argv))],
    [TAG.env, encodeEnv(spec.env)],
    [TAG.cwd, Buffer.from(`${spec.cwd}\0`)],
    [TAG.stdin, integer(spec.stdin === "none" ? 0 : spec.stdin === "open" ? 2 : 1, 1)],
    [TAG.capture, integer(spec.capture === "merged" ? 1 : 0, 1)],
    [TAG.timeout, integer(spec.timeoutMs, 8)],
    [TAG.grace, integer(spec.graceMs, 8)],
    [TAG.diskCap, integer(spec.diskCap, 8)],
    [TAG.flags, integer((spec.background ? BACKGROUND : 0) | (spec.durable ? FSYNC : 0), 4)],
    [TAG.umask, integer(callerUmask(), 4)],
    [TAG.announce, integer(spec.background ? 0 : ANNOUNCE_MS, 4)],
  ];
  if (typeof spec.stdin === "object") fields.push([TAG.stdinText, Buffer.from(spec.stdin.text)]);
  if (spec.label !== undefined) fields.push([TAG.label, Buffer.from(`${spec.label}\0`)]);
  if (spec.pty !== null) fields.push([TAG.terminal, size(spec.pty)]);
  if (spec.logFile !== null) fields.push([TAG.log, Buffer.from(`${spec.logFile}\0`)]);
  if (spec.root !== null) fields.push([TAG.root, Buffer.from(`${spec.root}\0`)]);
  fields.push(...limitFields(spec.limits));
  if (spec.sandbox !== null) fields.push(...sandboxFields(spec.sandbox));

  let length = 0;
  for (const [, bytes] of fields) length += 6 + bytes.length;
  const out = Buffer.allocUnsafe(5 + length);
  out.writeUInt32LE(1 + length, 0);
  out[4] = TYPE.run;
  let at = 5;
  for (const [tag, bytes] of fields) {
    out.writeUInt16LE(tag, at);
    out.writeUInt32LE(bytes.length, at + 2);
    bytes.copy(out, at + 6);
    at += 6 + bytes.length;
  }
  return out;
}

export const encodeWrite = (data: Uint8Array): Buffer => frame(TYPE.write, data);
export const encodeCloseStdin = (): Buffer => frame(TYPE.closeStdin);
export const encodeWatch = (): Buffer => frame(TYPE.watch);
export const encodeDetach = (): Buffer => frame(TYPE.detach);
export const encodeResize = (to: TerminalSize): Buffer => frame(TYPE.resize, size(to));
export const encodeInputState = (): Buffer => frame(TYPE.inputState);
export const encodeInputWait = (): Buffer => frame(TYPE.inputWait);
export const encodeDeadline = (ms: number): Buffer => frame(TYPE.deadline, integer(ms, 8));

export function encodeKill(request: KillRequest): Buffer {
  const payload = Buffer.alloc(11);
  payload[0] = request.signal;
  payload[1] = request.scope === "tree" ? 1 : 0;
  payload[2] = request.ends ? 1 : 0;
  payload.writeBigInt64LE(BigInt(request.graceMs ?? -1), 3);
  return frame(TYPE.signal, payload);
}
