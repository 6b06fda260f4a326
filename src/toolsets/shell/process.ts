import type { z } from "zod";
import type { SessionInfo } from "../../core/session.ts";
import type { TerminalSize } from "../../core/terminal.ts";
import { readLines } from "../../session/logs/reader.ts";
import type { Session, SessionOutput } from "../../session/session.ts";
import { signalName, signalNumber } from "../../session/signals.ts";
import { lastLine } from "../../text/model-output.ts";
import { MODEL_BYTES } from "../../text/output-limits.ts";
import { regularExpression } from "../../text/regex.ts";
import { type HandlerCall, type HandlerResult, RUN_ANNOTATIONS, tool } from "../define.ts";
import { missingArgument } from "../failures.ts";
import { outputAfterInput } from "../input-answer.ts";
import { inputNote } from "../input-note.ts";
import { outcomeNote } from "../outcome-message.ts";
import { answerUnread, cursorOf } from "../output.ts";
import { joinLines, listText, logText, screenText, warningsNote, withinBytes } from "../result-text.ts";
import { readable } from "../run.ts";
import { endSession } from "../sessions.ts";
import { toolName } from "../tool-names.ts";
import { ANSWER_WORDS, GRACE_MS, ProcessInput, ProcessResult, READER } from "./schema.ts";
import { pollText, SHELL_WORDS, sessionFields, stateText, waitText } from "./text.ts";

function stateOf(info: SessionInfo, more: Record<string, unknown> = {}): HandlerResult {
  return { structured: { ...sessionFields(info), ...more }, text: stateText(info) };
}

/** Sends input, and returns the output that follows it and the state of the session. */
async function input(session: Session, call: HandlerCall, send: () => Promise<void>): Promise<HandlerResult> {
  const output = await outputAfterInput(
    call,
    session,
    send,
    `${toolName("process")} action=log session_id=${session.id}`,
  );
  const info = session.info();
  const answer =
    output === null
      ? stateOf(info)
      : { structured: { ...sessionFields(info), output }, text: pollText(output, info, 0) };
  return withInputNote(answer, call.root, session.id);
}

/** Adds what the program waits for, if it waits for input. */
async function withInputNote(
  result: HandlerResult,
  root: HandlerCall["root"],
  id: string,
  options: { avoid?: boolean } = {},
): Promise<HandlerResult> {
  const note = await inputNote(root, id, ANSWER_WORDS, options);
  if (note === null) return result;
  const { structured, text = null } = result;
  return { ...result, structured: { ...structured, waiting: note }, text: joinLines([text, note]) };
}

function write(session: Session, data: string, eof: boolean, call: HandlerCall): Promise<HandlerResult> {
  return input(session, call, async () => {
    if (data !== "") await session.write(data);
    if (eof) await session.closeStdin();
  });
}

async function extend(session: Session, seconds: number): Promise<HandlerResult> {
  await session.extend(Math.ceil(seconds * 1000));
  const { structured, text = null } = stateOf(session.info(), { timeout: seconds });
  const deadline = seconds === 0 ? "It has no deadline now." : `Its deadline is ${seconds} s from now.`;
  return { structured, text: joinLines([text, deadline]) };
}

/** Signals that are followed by SIGKILL. Programs handle the others as they like. */
const ENDING: ReadonlySet<string> = new Set(["SIGTERM", "SIGKILL"]);

async function kill(session: Session, signal: string | undefined): Promise<HandlerResult> {
  const name = signal === undefined ? "SIGTERM" : (signalName(signalNumber(signal)) ?? signal);
  const graceMs = ENDING.has(name) ? GRACE_MS : null;
  const sent = await endSession(session, { graceMs, ...(signal === undefined ? {} : { signal }) });
  if (graceMs === null) await session.wait({ timeoutMs: GRACE_MS });
  const info = session.info();
  const ended = info.status !== "running" && !info.lingering;
  const { structured, text } = stateOf(info, { killed: sent && ended });
  const effect = sent ? (ended ? null : "The signal was sent.") : "The session had already ended.";
  return { structured, text: joinLines([effect, text ?? null]) };
}

const REMOVED = "The session and its log were removed.";

/** Removes a session and its log. With `force`, a running session is terminated first. */
async function remove(session: Session, force: boolean): Promise<HandlerResult> {
  const running = session.info().status === "running";
  const { structured } = stateOf(await session.remove({ force }), { removed: true });
  return { structured, text: running ? "The session was ended and removed with its log." : REMOVED };
}

const LAST_LINE_BYTES = 4096;

async function list({ gateway }: HandlerCall, limit: number): Promise<HandlerResult> {
  const found = await gateway.sessions({ limit });
  const sessions = await Promise.all(
    found.sessions.map(async (info) => {
      // The last line of a remote session is not read: a list must not cause a request to every worker.
      const own = info.gateway === null ? gateway.session(info.id) : null;
      const last = own ? await readable(() => own.logs({ tail: 1, limit: LAST_LINE_BYTES })) : "";
      return { ...sessionFields(info), note: outcomeNote(info, SHELL_WORDS), tail: lastLine(last) };
    }),
  );
  const { total, warnings } = found;
  return { structured: { sessions: withinBytes(sessions, MODEL_BYTES), total, ...warningsNote(warnings) } };
}

/** Output since the last read. */
interface NewOutput {
  output: string;
  /** The number of bytes that the next read returns. */
  unread: number;
}

/**
 * Returns the answer that `answer` builds from the output since the last read. The output of a full-screen program is
 * its screen, which represents everything that the program has drawn so far. The answer also says what a program waits
 * for and, with `avoid`, how to avoid that.
 */
export function answerNewOutput(
  call: HandlerCall,
  source: SessionOutput,
  answer: (output: NewOutput) => HandlerResult,
  options: { avoid?: boolean } = {},
): Promise<HandlerResult> {
  const { id } = source.info();
  const query = { reader: READER, id, maxBytes: MODEL_BYTES };
  const noted = (output: NewOutput) => withInputNote(answer(output), call.root, id, options);
  return answerUnread(call, source, query, async (page) => {
    if (!page.paintsScreen || source.info().pty === null) return noted({ output: page.text, unread: page.unread });
    const drawn = await source.logs({ offset: page.next, limit: 0 });
    return { ...(await noted({ output: screenText(await source.screen()), unread: 0 })), next: drawn.totalBytes };
  });
}

/** Returns the output since the last poll. */
async function poll(call: HandlerCall, session: Session): Promise<HandlerResult> {
  const source = await session.reading();
  // The state is read before the output, so a state other than running means that all output has been written.
  const info = session.info();
  return answerNewOutput(call, source, ({ output, unread }) => ({
    structured: { ...sessionFields(info), output, unread_bytes: unread },
    text: pollText(output, info, unread),
  }));
}

/** Returns a slice of lines; the last ones when no offset is given. */
async function log(session: Session, offset: number | undefined, limit: number): Promise<HandlerResult> {
  const lines = await readLines(await session.reading(), { offset: offset ?? -limit, limit, maxBytes: MODEL_BYTES });
  const { text: output, total, next: next_offset } = lines;
  const info = session.info();
  // Without output, the state says whether the command has started.
  const state = total === 0 ? stateText(info) : null;
  return {
    structured: { ...sessionFields(info), output, total, next_offset },
    text: joinLines([logText(lines), state]),
  };
}

function sendKeys(session: Session, keys: string[], call: HandlerCall): Promise<HandlerResult> {
  return input(session, call, () => session.sendKeys(keys));
}

/** Sends the text followed by Enter. */
function enter(session: Session, text: string, call: HandlerCall): Promise<HandlerResult> {
  return input(session, call, () => {
    if (session.info().pty === null) return session.write(`${text}\n`);
    return text === "" ? session.sendKeys(["Enter"]) : session.paste(text, { submit: true });
  });
}

function paste(session: Session, text: string, call: HandlerCall): Promise<HandlerResult> {
  return input(session, call, () => session.paste(text));
}

async function resize(session: Session, size: TerminalSize): Promise<HandlerResult> {
  await session.resize(size);
  const { structured, text = null } = stateOf(session.info(), { ...size });
  return { structured, text: joinLines([text, `Its terminal has ${size.columns} columns and ${size.rows} rows.`]) };
}

async function screen(session: Session): Promise<HandlerResult> {
  const shown = await session.screen();
  const { columns, rows, lines, cursor, title, alternate } = shown;
  return {
    structured: { ...sessionFields(session.info()), screen: { columns, rows, lines, cursor, title, alternate } },
    text: screenText(shown),
  };
}

interface Conditions {
  pattern?: string | undefined;
  quietMs?: number | undefined;
  input: boolean;
  timeoutMs: number;
}

/**
 * Waits for a condition, no longer than the caller waits for the result, and returns the output since the last poll.
 */
async function wait(session: Session, asked: Conditions, call: HandlerCall): Promise<HandlerResult> {
  const { signal, answerWithinMs = Number.POSITIVE_INFINITY } = call.context;
  const { pattern, quietMs, input, timeoutMs } = asked;
  const { reason, match } = await session.waitFor({
    // `^` and `$` match at each line.
    ...(pattern === undefined ? {} : { pattern: regularExpression(pattern, "pattern", "m") }),
    readTo: cursorOf(call, { reader: READER, id: session.id }),
    ...(quietMs === undefined ? {} : { quietMs }),
    input,
    timeoutMs: Math.min(timeoutMs, answerWithinMs),
    ...(signal ? { signal } : {}),
  });
  const polled = await poll(call, session);
  // What the program waits for is already said.
  const told = reason === "input" && polled.structured.waiting !== undefined ? "exit" : reason;
  const text = waitText(told, match, polled.text ?? "");
  return { structured: { ...polled.structured, reason, match }, text };
}

type Args = z.output<typeof ProcessInput>;
type Action = (session: Session, args: Args, call: HandlerCall) => Promise<HandlerResult>;

export const processTool = tool({
  name: "process",
  title: "Manage sessions",
  description:
    "Follow and control sessions started by `exec`. Actions: list; poll (new output and state); log (lines of output, the last ones by default); wait (until exit, a pattern, a pause in output, or a prompt for input; prefer it to polling); write (text to stdin; eof closes it), send-keys, submit (text and Enter) and paste, which return the output that follows (poll returns it too); screen (the visible text) and resize for terminals; extend (set a new deadline); kill; clear (remove an ended session); remove (terminate and remove).",
  input: ProcessInput,
  output: ProcessResult,
  annotations: RUN_ANNOTATIONS,
  text: (structured) =>
    listText((structured.sessions ?? []) as Record<string, unknown>[], structured as { total: number }),
  operation: "write",
  async handle(args, call) {
    const answer = await act(args, call);
    return { ...answer, structured: { action: args.action, ...answer.structured } };
  },
});

async function act(args: Args, call: HandlerCall): Promise<HandlerResult> {
  const { action, session_id } = args;
  if (action === "list") return list(call, args.limit);
  const name = [...(session_id === undefined ? ["session_id"] : []), ...(REQUIRED_ARGUMENTS[action] ?? [])].find(
    (needed) => args[needed as keyof Args] === undefined,
  );
  if (name !== undefined || session_id === undefined) return missing(action, name ?? "session_id");
  return ACTION_HANDLERS[action](await call.gateway.find(session_id), args, call);
}

/** The required arguments of each action, except `session_id`. */
const REQUIRED_ARGUMENTS: Partial<Record<Args["action"], readonly (keyof Args)[]>> = {
  "send-keys": ["keys"],
  paste: ["data"],
  extend: ["timeout"],
  resize: ["columns", "rows"],
};

const ACTION_HANDLERS: Record<Exclude<Args["action"], "list">, Action> = {
  poll: (session, _, call) => poll(call, session),
  log: (session, { offset, limit }) => log(session, offset, limit),
  write: (session, { data, eof }, call) =>
    data === undefined && !eof ? Promise.resolve(missing("write", "data")) : write(session, data ?? "", eof, call),
  "send-keys": (session, { keys = [] }, call) => sendKeys(session, keys, call),
  submit: (session, { data = "" }, call) => enter(session, data, call),
  paste: (session, { data = "" }, call) => paste(session, data, call),
  screen: (session) => screen(session),
  wait: (session, args, call) => wait(session, args, call),
  extend: (session, { timeout = 0 }) => extend(session, timeout),
  resize: (session, { columns = 0, rows = 0 }) => resize(session, { columns, rows }),
  kill: (session, { signal }) => kill(session, signal),
  clear: (session) => remove(session, false),
  remove: (session) => remove(session, true),
};

function missing(action: string, name: string): HandlerResult {
  return { structured: {}, failure: missingArgument(action, name) };
}
