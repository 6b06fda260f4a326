import { setTimeout as sleep } from "node:timers/promises";
import type { Execution, InputState } from "../../executor/executor.ts";
import type { SessionData } from "../../executor/session-data.ts";
import { readsCommands } from "./command-readers.ts";
import { lastSize } from "./history.ts";
import { endsLine, LINE_END, type TypedCommand, typedCommands } from "./typed-input.ts";

/** How long to wait before offering again what a command did not read. */
const RETRY_MS = 15;
/** How long the program in front gets to take a line before the next is judged as if anybody might read it. */
const LINE_TAKEN_MS = 1000;
const LOOK_MS = 5;

/** What is needed of whoever answers for what is typed. */
export interface Guard {
  /** Lets these through, or throws. */
  permit(commands: TypedCommand[]): Promise<void>;
  /** Writes down what is typed; `hidden`: not what it is. */
  note(bytes: Uint8Array, hidden: boolean): void;
  closed(): Error;
}

/** Types keys into a terminal, each line judged for the program that will read it. */
export async function typeInto(execution: Execution, keys: Uint8Array, guard: Guard, pasted = false): Promise<void> {
  let rest = keys;
  beginTyping(execution);
  // Keys that end no line have nobody run anything yet: they need not wait for anything.
  if (!endsLine(keys)) return typeKeys(execution, keys, guard);
  while (rest.length > 0) {
    const state = await execution.inputState();
    if (!state) throw guard.closed();
    const part = pasted ? rest : rest.subarray(0, judgedTogether(state, rest));
    const commands = typedCommands(state, part, pasted);
    if (commands.length > 0) await guard.permit(commands);
    guard.note(part, state.canonical && !state.echo);
    await give(execution, part, guard);
    noteTyped(execution);
    rest = rest.subarray(part.length);
    if (rest.length > 0) await lineTaken(execution);
  }
}

/** To a command on pipes, which no shell's line editing stands before. */
export async function writeTo(execution: Execution, bytes: Uint8Array, guard: Guard): Promise<void> {
  beginTyping(execution);
  guard.note(bytes, false);
  await give(execution, bytes, guard);
  noteTyped(execution);
}

async function typeKeys(execution: Execution, keys: Uint8Array, guard: Guard): Promise<void> {
  await give(execution, keys, guard);
  noteTyped(execution);
  guard.note(keys, execution.wroteHidden);
}

/** Writes all of it, however slowly it is read. */
async function give(
  execution: Pick<Execution, "write">,
  bytes: Uint8Array,
  { closed }: Pick<Guard, "closed">,
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
function judgedTogether(state: InputState, keys: Uint8Array): number {
  const { reading, foreground, processes } = state;
  const alone = !reading || !foreground || readsCommands(foreground) || !processes.some(readsCommands);
  if (alone) return keys.length;
  const end = Buffer.from(keys).toString("latin1").search(LINE_END);
  return end < 0 ? keys.length : Math.max(end, 1);
}

/** What is known of a session that is typed into: where its output ended before the last keys, for one. */
interface Known {
  data: SessionData;
  terminal: boolean;
  /** Undefined: nothing was typed, or is just on its way. */
  typedAt: number | undefined;
}

const known = new WeakMap<Execution, Known>();

/** Whether it is on a terminal; that does not change, and every key asks. */
export function isOnTerminal(execution: Execution, dataOf: () => SessionData): boolean {
  let about = known.get(execution);
  if (!about) {
    const data = dataOf();
    about = { data, terminal: lastSize(data.terminal()) !== null, typedAt: undefined };
    known.set(execution, about);
  }
  return about.terminal;
}

export function wasTypedInto(execution: Execution): boolean {
  return known.has(execution);
}

/** An executor that says where the output ended when it wrote spares every key a look at the file. */
function beginTyping(execution: Execution): void {
  const about = known.get(execution);
  if (!about) return;
  about.typedAt = execution.wroteAt === undefined ? about.data.size() : undefined;
}

/** What is typed in several parts was typed where the first of them was. */
function noteTyped(execution: Execution): void {
  const about = known.get(execution);
  if (about) about.typedAt ??= execution.wroteAt;
}

/** Where its output ended before this gateway last typed something; undefined while that is on its way. */
export function outputWhenTyped(execution: Execution): number | undefined {
  return known.get(execution)?.typedAt;
}

async function lineTaken(execution: Execution): Promise<void> {
  const end = performance.now() + LINE_TAKEN_MS;
  while (performance.now() < end && (await execution.inputState())?.reading === false) await sleep(LOOK_MS);
}
