import * as z from "zod";
import { DEFAULT_LINES, MAX_LINES } from "../sessions.ts";

export const DEFAULT_TIMEOUT = 30;
const ACTIONS = ["list", "poll", "log", "write", "send-keys", "kill"] as const;
export const POLL_LINES = 20;
const DEFAULT_LIST = 50;
const MAX_LISTED = 500;

const sessionId = z.string().min(1).max(200).describe("The session_id that execute or execute_pty returned");
const listLimit = z.int().min(1).max(MAX_LISTED).default(DEFAULT_LIST).describe("At most so many, newest first");
const offset = z.int().default(0).describe("Lines to skip; negative: from the end, -50 gives the last 50");
const lines = z.int().min(1).max(MAX_LINES).default(DEFAULT_LINES).describe("Lines to return at most");

export const ExecuteInput = z.strictObject({
  command: z.string().min(1, "must not be empty").describe("Command line for bash"),
  cwd: z.string().min(1).optional().describe("Working directory within the workspace; default its root"),
  env: z
    .record(z.string(), z.string())
    .optional()
    .describe("Additional variables; secrets and loader hooks are refused"),
  timeout: z
    .number()
    .positive()
    .optional()
    .describe(`Seconds until it is killed; default ${DEFAULT_TIMEOUT}, in background none`),
  background: z.boolean().default(false).describe("Return at once; its exit is told by a work item EXEC_CALLBACK"),
});

export const ListInput = z.strictObject({ limit: listLimit });
export const PollInput = z.strictObject({ session_id: sessionId });
export const LogInput = z.strictObject({ session_id: sessionId, offset, limit: lines });

export const ManagerInput = z.strictObject({
  action: z.enum(ACTIONS).describe("What to do"),
  session_id: sessionId.optional().describe("Which session; needed for all but list"),
  data: z.string().optional().describe("write: text to send to its input, as it is (end a line with \\n)"),
  eof: z.boolean().default(false).describe("write: close its input afterwards"),
  keys: z
    .array(z.string())
    .min(1)
    .optional()
    .describe('send-keys: names or characters, such as ["C-c"] or ["l", "s", "Enter"]; for execute_pty sessions'),
  offset: offset.describe("log: lines to skip; negative: from the end"),
  limit: lines.describe("log: lines to return at most; list: sessions"),
});

export const ExecuteResult = z.object({
  session_id: z.string(),
  log_path: z.string().describe("Plain log of all output, to be read or tailed"),
  exit_code: z.int().nullable().describe("Null while it runs and after a timeout; 128+n after signal n"),
  output: z.string().describe("stdout and stderr in order"),
  timed_out: z.boolean(),
  status: z.string().describe("running, completed, timed_out, killed or lost"),
  warnings: z.array(z.string()).optional(),
});

const session = z.object({
  session_id: z.string(),
  command: z.string(),
  status: z.string(),
  exit_code: z.int().nullable(),
  started_at: z.string(),
  duration_ms: z.int(),
  log_path: z.string().nullable(),
});

const note = z.string().optional().describe("What may be missing: machines of a fleet that gave no answer");

export const ListResult = z.object({ sessions: z.array(session), total: z.int(), note });

export const PollResult = session.extend({
  running: z.boolean(),
  output: z.string().describe(`The last ${POLL_LINES} lines`),
});

export const LogResult = z.object({
  session_id: z.string(),
  log_path: z.string().nullable(),
  content: z.string(),
  total: z.int().describe("Lines there are in all"),
  next_offset: z.int().describe("Where to go on; equal to total: that was all"),
});

export const ManagerResult = z.object({
  action: z.enum(ACTIONS),
  ...PollResult.partial().shape,
  ...LogResult.partial().shape,
  ...ListResult.partial().shape,
  written_bytes: z.int().optional(),
  killed: z.boolean().optional().describe("False: it had ended before"),
});
