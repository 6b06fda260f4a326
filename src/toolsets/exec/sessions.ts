import type { z } from "zod";
import type { Gateway } from "../../gateway/gateway.ts";
import { type OutputSource, readLastLines, readLines } from "../../session/logs/reader.ts";
import type { Session } from "../../session/session.ts";
import { MODEL_BYTES } from "../../text/output-limits.ts";
import { type HandlerCall, type HandlerResult, READ_ANNOTATIONS, RUN_ANNOTATIONS, tool } from "../define.ts";
import { missingArgument } from "../failures.ts";
import { outputAfterInput } from "../input-answer.ts";
import { inputNote } from "../input-note.ts";
import { outcomeNote } from "../outcome-message.ts";
import { waitForSession } from "../output.ts";
import { logText, warningsNote, withinBytes } from "../result-text.ts";
import { endSession } from "../sessions.ts";
import { toolName } from "../tool-names.ts";
import {
  ANSWER_WORDS,
  ListInput,
  ListResult,
  LogInput,
  LogResult,
  ManagerInput,
  ManagerResult,
  POLL_LINES,
  PollInput,
  PollResult,
} from "./schema.ts";
import { EXEC_WORDS, managerText, sessionEntry, sessionsText, sessionText } from "./text.ts";

async function listSessions(gateway: Gateway, limit: number): Promise<HandlerResult> {
  const { sessions, total, warnings } = await gateway.sessions({ limit });
  const listed = withinBytes(sessions.map(sessionEntry), MODEL_BYTES);
  return { structured: { sessions: listed, total, ...warningsNote(warnings) } };
}

async function pollSession(source: OutputSource, root: Gateway): Promise<HandlerResult> {
  const info = source.info();
  const hint = `${toolName("process_log")} session_id=${info.id}`;
  const output = await readLastLines(source, { lines: POLL_LINES, maxBytes: MODEL_BYTES, hint });
  const note = outcomeNote(info, EXEC_WORDS);
  const { warnings } = info;
  const waiting = await inputNote(root, info.id, ANSWER_WORDS);
  const running = info.status === "running";
  return {
    structured: { ...sessionEntry(info), running, ...(waiting === null ? {} : { waiting }), output, warnings, note },
  };
}

async function logOfSession(source: OutputSource, offset: number, limit: number): Promise<HandlerResult> {
  const lines = await readLines(source, { offset, limit, maxBytes: MODEL_BYTES });
  const { text: content, total, next, droppedBytes } = lines;
  const { id, logFile } = source.info();
  return {
    structured: {
      session_id: id,
      log_path: logFile,
      content,
      total,
      next_offset: next,
      ...(droppedBytes > 0 ? { dropped_bytes: droppedBytes } : {}),
    },
    text: logText(lines),
  };
}

type Args = z.output<typeof ManagerInput>;

export const processManager = tool({
  name: "process_manager",
  title: "Manage a session",
  description:
    "Control a session: write text to stdin or send-keys to its terminal (names such as Enter, C-c, Up), which return the output that follows, or kill it with all processes it started. Every call requires a person's approval. For list, poll and log, use process_list, process_poll and process_log instead, which require no approval.",
  input: ManagerInput,
  output: ManagerResult,
  text: managerText,
  annotations: RUN_ANNOTATIONS,
  meta: { category: "process" },
  operation: "write",
  permission: "ask",
  // The contract requires approval per tool, so every action of this tool requires it.
  permissions: { kill: "ask", list: "ask", read: "ask" },
  async handle(args, call) {
    const answer = await act(args, call);
    return { ...answer, structured: { action: args.action, ...answer.structured } };
  },
});

async function act(args: Args, call: HandlerCall): Promise<HandlerResult> {
  const { action, session_id } = args;
  if (action === "list") return list(args, call);
  if (session_id === undefined) return missing(action, "session_id");
  const session = await call.gateway.find(session_id);
  if (action === "write")
    return args.data === undefined && !args.eof ? missing(action, "data") : write(session, args, call);
  if (action === "send-keys") return args.keys ? sendKeys(session, args.keys, call) : missing(action, "keys");
  if (action === "kill") return kill(session);
  const source = await session.reading();
  return action === "poll" ? pollSession(source, call.root) : logOfSession(source, args.offset, args.limit);
}

async function list({ limit }: Args, { gateway }: HandlerCall): Promise<HandlerResult> {
  await gateway.permit("list");
  return listSessions(gateway, limit);
}

async function write(session: Session, { data = "", eof }: Args, call: HandlerCall): Promise<HandlerResult> {
  const answer = await input(session, call, async () => {
    if (data !== "") await session.write(data);
    if (eof) await session.closeStdin();
  });
  return { structured: { ...answer.structured, written_bytes: Buffer.byteLength(data) } };
}

function sendKeys(session: Session, keys: string[], call: HandlerCall): Promise<HandlerResult> {
  return input(session, call, () => session.sendKeys(keys));
}

/** Sends input, and returns the state of the session and the output that follows the input. */
async function input(session: Session, call: HandlerCall, send: () => Promise<void>): Promise<HandlerResult> {
  const output = await outputAfterInput(call, session, send, `${toolName("process_log")} session_id=${session.id}`);
  const waiting = await inputNote(call.root, session.id, ANSWER_WORDS);
  return {
    structured: {
      ...sessionEntry(session.info()),
      ...(waiting === null ? {} : { waiting }),
      ...(output === null ? {} : { output }),
    },
  };
}

async function kill(session: Session): Promise<HandlerResult> {
  const killed = await endSession(session);
  return { structured: { ...sessionEntry(session.info()), killed } };
}

function missing(action: string, name: string): HandlerResult {
  return { structured: {}, failure: missingArgument(action, name) };
}

const meta = { category: "process" };

export const processList = tool({
  name: "process_list",
  title: "List sessions",
  description: "List this agent's sessions, newest first, with status and exit code. Requires no approval.",
  input: ListInput,
  output: ListResult,
  text: sessionsText,
  annotations: READ_ANNOTATIONS,
  meta,
  operation: "list",
  handle: async ({ limit }, { gateway }) => listSessions(gateway, limit),
});

export const processPoll = tool({
  name: "process_poll",
  title: "Check a session",
  description: `Return the status of a session, its exit code once it has ended, and its last ${POLL_LINES} lines of output. Requires no approval.`,
  input: PollInput,
  output: PollResult,
  text: sessionText,
  annotations: READ_ANNOTATIONS,
  meta,
  operation: "read",
  async handle({ session_id, wait }, call) {
    const session = await call.gateway.find(session_id);
    await waitForSession(call, session, { seconds: wait });
    return pollSession(await session.reading(), call.root);
  },
});

export const processLog = tool({
  name: "process_log",
  title: "Read a session's log",
  description:
    "Return lines of a session's output, up to 64 KiB per call, and the total number of lines. Continue at next_offset; a negative offset counts from the end. Requires no approval.",
  input: LogInput,
  output: LogResult,
  annotations: READ_ANNOTATIONS,
  meta,
  operation: "read",
  handle: async ({ session_id, offset, limit }, { gateway }) =>
    logOfSession(await (await gateway.find(session_id)).reading(), offset, limit),
});
