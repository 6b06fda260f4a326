import * as z from "zod";
import { waitSeconds } from "../schema.ts";
import { DEFAULT_LINES, MAX_LINES } from "../sessions.ts";
import { toolName } from "../tool-names.ts";

export const DEFAULT_TIMEOUT = 30;
const ACTIONS = ["list", "poll", "log", "write", "send-keys", "kill"] as const;
export const POLL_LINES = 20;
const DEFAULT_LIST = 50;
const MAX_LISTED = 500;

const sessionId = z.string().min(1).max(200).describe("The session_id that `execute` or execute_pty returned");
const listLimit = z
  .int()
  .min(1)
  .max(MAX_LISTED)
  .default(DEFAULT_LIST)
  .describe("Maximum number of sessions, newest first");
const offset = z.int().default(0).describe("Lines to skip; -50 returns the last 50 lines");
const lines = z.int().min(1).max(MAX_LINES).default(DEFAULT_LINES).describe("Maximum number of lines");

export const ExecuteInput = z.strictObject({
  command: z.string().min(1, "must not be empty").describe("The command to run, passed to bash"),
  cwd: z.string().min(1).optional().describe("Working directory inside the workspace (default: the workspace root)"),
  env: z
    .record(z.string(), z.string())
    .optional()
    .describe("Additional environment variables; secrets and variables such as LD_PRELOAD are rejected"),
  timeout: z
    .number()
    .positive()
    .optional()
    .describe(`Timeout in seconds (default ${DEFAULT_TIMEOUT}; none in the background)`),
  background: z
    .boolean()
    .default(false)
    .describe("Return immediately; the exit is reported as an EXEC_CALLBACK item in the work queue"),
});

export const ListInput = z.strictObject({ limit: listLimit });
export const PollInput = z.strictObject({
  session_id: sessionId,
  wait: waitSeconds("the command to exit"),
});
export const LogInput = z.strictObject({ session_id: sessionId, offset, limit: lines });

export const ManagerInput = z.strictObject({
  action: z.enum(ACTIONS).describe("The action to perform"),
  session_id: sessionId.optional().describe("The session_id; required for every action except list"),
  data: z.string().optional().describe("write: text for stdin, sent unchanged (end a line with \\n)"),
  eof: z.boolean().default(false).describe("write: close stdin afterwards"),
  keys: z
    .array(z.string())
    .min(1)
    .optional()
    .describe('send-keys: key names or characters, such as ["C-c"] or ["l", "s", "Enter"]; for execute_pty sessions'),
  offset: offset.describe("log: lines to skip; -50 returns the last 50 lines"),
  limit: lines.describe("log: maximum number of lines; list: maximum number of sessions"),
});

const remarks = {
  warnings: z.array(z.string()).describe("Problems that did not stop the command"),
  note: z.string().nullable().describe("How the command ended and what to do next"),
};

/** How to answer a program that waits for input. */
export const ANSWER_WORDS = {
  get line() {
    return `Answer with ${toolName("process_manager")} action=write (end the line with \\n), or end it with action=kill.`;
  },
  get screen() {
    return `Press keys with ${toolName("process_manager")} action=send-keys, or end it with action=kill.`;
  },
  get stdin() {
    return `Answer with ${toolName("process_manager")} action=write (end the line with \\n), or close its stdin with action=write and eof: true.`;
  },
};

const waiting = z
  .string()
  .optional()
  .describe("The input that a program waits for, and how to answer; omitted if none does");

export const ExecuteResult = z.object({
  session_id: z.string(),
  log_path: z.string().describe("Path of a plain-text log of the output"),
  exit_code: z.int().nullable().describe("128+n after signal n; null while running and after a timeout"),
  output: z.string().describe("stdout and stderr merged in the order they were written"),
  timed_out: z.boolean(),
  status: z.string().describe("running, completed, timed_out, killed or lost"),
  waiting,
  ...remarks,
});

const session = z.object({
  session_id: z.string(),
  command: z.string(),
  status: z.string(),
  exit_code: z.int().nullable(),
  started_at: z.string(),
  duration_ms: z.int().nullable().describe("Null when the end of a lost session is not known"),
  log_path: z.string().nullable(),
});

const listNote = z.string().describe("Why the list may be incomplete, such as machines that did not respond");

export const ListResult = z.object({ sessions: z.array(session), total: z.int(), note: listNote.optional() });

export const PollResult = session.extend({
  running: z.boolean(),
  waiting,
  output: z.string().describe(`The last ${POLL_LINES} lines of output; write, send-keys: the output since the input`),
  ...remarks,
});

export const LogResult = z.object({
  session_id: z.string(),
  log_path: z.string().nullable(),
  content: z.string(),
  total: z.int().describe("Number of lines in the log; dropped ones are not counted"),
  next_offset: z.int().describe("Offset of the next line; equal to total at the end of the log"),
  dropped_bytes: z
    .int()
    .optional()
    .describe("Bytes that are permanently missing from the log; marked in `content` where they are"),
});

export const ManagerResult = z.object({
  action: z.enum(ACTIONS),
  ...ListResult.partial().shape,
  ...LogResult.partial().shape,
  ...PollResult.partial().shape,
  written_bytes: z.int().optional(),
  killed: z.boolean().optional().describe("False if the session had already ended"),
});
