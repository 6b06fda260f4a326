import { setTimeout as sleep } from "node:timers/promises";
import type { Execution, InputState } from "../../executor/execution.ts";
import type { SessionData } from "../../executor/session-data.ts";
import { readsCommands } from "./command-readers.ts";
import { lastSize } from "./history.ts";
import { endsLine, firstLineEnd, type TypedCommand, typedCommands } from "./typed-input.ts";

/** How long to wait before offering again what a command did not read. */
const RETRY_MS = 15;
/** How long the program in front gets to take a line before the next is judged as if anybody might read it. */
const LINE_READ_MS = 1000;
const POLL_MS = 5;

/** What the session does before and after input is written. */
export interface InputHooks {
  /** Lets these through, or throws. */
  authorize(commands: TypedCommand[]): Promise<void>;
  /** Writes down what is typed; `hidden`: not what it is. */
  audit(bytes: Uint8Array, hidden: boolean): void;
  closed(): Error;
}

/** Types keys into a terminal, each line judged for the program that will read it. */
export async function writeToTerminal(
  execution: Execution,
  keys: Uint8Array,
  hooks: InputHooks,
  pasted = false,
): Promise<void> {
  let rest = keys;
  noteInputStart(execution);
  // Keys that end no line have nobody run anything yet: they need not wait for anything.
  if (!endsLine(keys)) return writeKeys(execution, keys, hooks);
  while (rest.length > 0) {
    const state = await execution.inputState();
    if (!state) throw hooks.closed();
    const part = pasted ? rest : rest.subarray(0, bytesForOneReader(state, rest));
    const commands = typedCommands(state, part, pasted);
    if (commands.length > 0) await hooks.authorize(commands);
    hooks.audit(part, state.canonical && !state.echo);
    await writeAll(execution, part, hooks);
    noteInputEnd(execution);
    rest = rest.subarray(part.length);
    if (rest.length > 0) await waitForLineRead(execution);
  }
}

/** To a command on pipes, which no shell's line editing stands before. */
export async function writeToPipe(execution: Execution, bytes: Uint8Array, hooks: InputHooks): Promise<void> {
  noteInputStart(execution);
  hooks.audit(bytes, false);
  await writeAll(execution, bytes, hooks);
  noteInputEnd(execution);
}

async function writeKeys(execution: Execution, keys: Uint8Array, hooks: InputHooks): Promise<void> {
  await writeAll(execution, keys, hooks);
  noteInputEnd(execution);
  hooks.audit(keys, execution.wroteHidden);
}

/** Writes all of it, however slowly it is read. */
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
 * How many bytes can be judged for the same reader. A program with a shell behind it may end with any key, and then the
 * shell gets the rest: the end of a line goes by itself, once it is seen who will get that.
 */
function bytesForOneReader(state: InputState, keys: Uint8Array): number {
  const { reading, foreground, processes } = state;
  const alone = !reading || !foreground || readsCommands(foreground) || !processes.some(readsCommands);
  if (alone) return keys.length;
  const end = firstLineEnd(keys);
  return end < 0 ? keys.length : Math.max(end, 1);
}

/** What is known of a session that is typed into: where its output ended before the last keys, for one. */
interface InputRecord {
  data: SessionData;
  terminal: boolean;
  /** Undefined: nothing was typed, or is just on its way. */
  typedAt: number | undefined;
}

const inputRecords = new WeakMap<Execution, InputRecord>();

/** Whether it is on a terminal; that does not change, and every key asks. */
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

/** An executor that says where the output ended when it wrote spares every key a look at the file. */
function noteInputStart(execution: Execution): void {
  const record = inputRecords.get(execution);
  if (!record) return;
  record.typedAt = execution.wroteAt === undefined ? record.data.size() : undefined;
}

/** What is typed in several parts was typed where the first of them was. */
function noteInputEnd(execution: Execution): void {
  const record = inputRecords.get(execution);
  if (record) record.typedAt ??= execution.wroteAt;
}

/** Where its output ended before this gateway last typed something; undefined while that is on its way. */
export function outputOffsetAtInput(execution: Execution): number | undefined {
  return inputRecords.get(execution)?.typedAt;
}

async function waitForLineRead(execution: Execution): Promise<void> {
  const end = performance.now() + LINE_READ_MS;
  while (performance.now() < end && (await execution.inputState())?.reading === false) await sleep(POLL_MS);
}
