import { setTimeout as sleep } from "node:timers/promises";
import type { Execution, InputState } from "../../executor/execution.ts";
import type { SessionData } from "../../executor/session-data.ts";
import { lastSize } from "./history.ts";
import { endsLine, firstLineEnd, type InputText, isShell, typedTexts } from "./typed-input.ts";

/** The delay before input that the command did not accept is written again. */
const RETRY_MS = 15;
/**
 * How long to wait for the foreground program to read a line. After that, the next line is checked for every program
 * that might read it.
 */
const LINE_READ_MS = 1000;
const POLL_MS = 5;

/** Functions of the session that are called before and after input is written. */
export interface InputHooks {
  /** Rejects unless policy allows the code in the input. */
  authorize(
    input: { bytes: Uint8Array; typed: InputText[] } | { bytes: Uint8Array; typed: null; end: boolean },
  ): Promise<void>;
  /** Records the input in the audit log, without its content if `hidden`. */
  audit(bytes: Uint8Array, hidden: boolean): void;
  closed(): Error;
}

/** Writes keys to a terminal. Each line is authorized for the program that will read it. */
export async function writeToTerminal(
  execution: Execution,
  keys: Uint8Array,
  hooks: InputHooks,
  pasted = false,
): Promise<void> {
  let rest = keys;
  noteInputStart(execution);
  // Keys that do not end a line cannot run a command, so they are written without authorization.
  if (!endsLine(keys)) return writeKeys(execution, keys, hooks);
  while (rest.length > 0) {
    const state = await execution.inputState();
    if (!state) throw hooks.closed();
    const part = pasted ? rest : rest.subarray(0, bytesForOneReader(state, rest));
    const typed = typedTexts(state, part, pasted);
    if (typed.length > 0) await hooks.authorize({ bytes: part, typed });
    hooks.audit(part, state.canonical && !state.echo);
    await writeAll(execution, part, hooks);
    noteInputEnd(execution);
    rest = rest.subarray(part.length);
    if (rest.length > 0) await waitForLineRead(execution);
  }
}

/** Writes input to a command on pipes, where no line editing applies. */
export async function writeToPipe(execution: Execution, bytes: Uint8Array, hooks: InputHooks): Promise<void> {
  noteInputStart(execution);
  hooks.audit(bytes, false);
  await writeAll(execution, bytes, hooks);
  noteInputEnd(execution);
}

/** Writes input to an interpreter on pipes, after it is authorized. */
export async function writeCode(execution: Execution, bytes: Uint8Array, hooks: InputHooks): Promise<void> {
  await hooks.authorize({ bytes, typed: null, end: false });
  await writeToPipe(execution, bytes, hooks);
}

const queues = new WeakMap<Execution, Promise<unknown>>();

/**
 * Writes to an interpreter one after the other. Otherwise two callers could together write a line that neither of them
 * was authorized for.
 */
export function inOrder(execution: Execution, write: () => Promise<void>): Promise<void> {
  const done = (queues.get(execution) ?? Promise.resolve()).then(write, write);
  queues.set(execution, done);
  return done;
}

async function writeKeys(execution: Execution, keys: Uint8Array, hooks: InputHooks): Promise<void> {
  await writeAll(execution, keys, hooks);
  noteInputEnd(execution);
  hooks.audit(keys, execution.wroteHidden);
}

/** Writes all bytes, waiting as long as the command takes to read them. */
async function writeAll(
  execution: Pick<Execution, "write">,
  bytes: Uint8Array,
  { closed }: Pick<InputHooks, "closed">,
): Promise<void> {
  let rest = bytes;
  while (rest.length > 0) {
    const taken = await execution.write(rest);
    if (taken === null) throw closed();
    rest = rest.subarray(taken);
    if (taken === 0) await sleep(RETRY_MS);
  }
}

/**
 * Returns how many bytes certainly go to the same reader. A foreground program started by a shell may exit on any key,
 * and the shell then reads the rest, so each line end is written separately after its reader is known.
 */
function bytesForOneReader(state: InputState, keys: Uint8Array): number {
  const { reading, foreground, processes } = state;
  const alone = !reading || !foreground || isShell(foreground) || !processes.some(isShell);
  if (alone) return keys.length;
  const end = firstLineEnd(keys);
  return end < 0 ? keys.length : Math.max(end, 1);
}

/** The state of a session that receives input from this gateway. */
interface InputRecord {
  data: SessionData;
  terminal: boolean;
  /** The output offset at which the last input was written; undefined before the first input or while it is written. */
  typedAt: number | undefined;
}

const inputRecords = new WeakMap<Execution, InputRecord>();

/** Reports whether the session is on a terminal. Cached, because it never changes and is needed for every key. */
export function isOnTerminal(execution: Execution, dataOf: () => SessionData): boolean {
  let record = inputRecords.get(execution);
  if (!record) {
    const data = dataOf();
    record = { data, terminal: lastSize(data.terminal()) !== null, typedAt: undefined };
    inputRecords.set(execution, record);
  }
  return record.terminal;
}

export function hasReceivedInput(execution: Execution): boolean {
  return inputRecords.has(execution);
}

/** Records the output offset before a write, unless the executor reports it with the write. */
function noteInputStart(execution: Execution): void {
  const record = inputRecords.get(execution);
  if (!record) return;
  record.typedAt = execution.wroteAt === undefined ? record.data.size() : undefined;
}

/** Records the output offset that the executor reported, unless an earlier part of the same input has set it. */
function noteInputEnd(execution: Execution): void {
  const record = inputRecords.get(execution);
  if (record) record.typedAt ??= execution.wroteAt;
}

/** Returns the output offset at which this gateway last wrote input; undefined while a write is in progress. */
export function outputOffsetAtInput(execution: Execution): number | undefined {
  return inputRecords.get(execution)?.typedAt;
}

async function waitForLineRead(execution: Execution): Promise<void> {
  const end = performance.now() + LINE_READ_MS;
  while (performance.now() < end && (await execution.inputState())?.reading === false) await sleep(POLL_MS);
}
