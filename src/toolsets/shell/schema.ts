import * as z from "zod";
import { DEFAULT_LINES, MAX_LINES } from "../sessions.ts";
import { toolName } from "../tool-names.ts";

export const DEFAULT_YIELD_MS = 10_000;
export const DEFAULT_TIMEOUT = 1800;
/** The time from SIGTERM to SIGKILL, after a timeout and for `kill`. */
export const GRACE_MS = 1000;
export const READER = "shell";

export const ANSWER_WORDS = {
  get line() {
    return `Answer with ${toolName("process")} action=submit, or end it with action=kill.`;
  },
  get screen() {
    return `Look at it with ${toolName("process")} action=screen and press keys with action=send-keys, or end it with action=kill.`;
  },
  get stdin() {
    return `Answer with ${toolName("process")} action=submit, or close its stdin with action=write and eof: true.`;
  },
};

const MAX_MS = 24 * 3600 * 1000;
const MAX_SECONDS = 2_147_483;

export const ExecInput = z.strictObject({
  command: z.string().min(1, "must not be empty").describe("The command to run, passed to bash"),
  workdir: z
    .string()
    .min(1)
    .optional()
    .describe("Working directory inside the workspace (default: the workspace root)"),
  env: z.record(z.string(), z.string()).optional().describe("Additional environment variables"),
  yieldMs: z
    .int()
    .min(0)
    .max(MAX_MS)
    .default(DEFAULT_YIELD_MS)
    .describe("Milliseconds to wait before the command continues in the background"),
  background: z.boolean().default(false).describe("Return immediately, without waiting"),
  timeout: z
    .number()
    .min(0)
    .max(MAX_SECONDS)
    .optional()
    .describe(`Timeout in seconds; also applies in the background (default ${DEFAULT_TIMEOUT}, 0 for none)`),
  pty: z
    .union([z.literal("auto"), z.boolean()], 'must be "auto", true or false')
    .default("auto")
    .describe('Run in a terminal (120 x 30): "auto" if the program needs one, true always, false never'),
  security: z
    .enum(["deny", "allowlist", "full"])
    .optional()
    .describe("Stricter security mode than configured; a looser one is ignored"),
  ask: z
    .enum(["off", "on-miss", "always"])
    .optional()
    .describe("Stricter approval mode than configured; a looser one is ignored"),
});

const outcome = {
  session_id: z.string(),
  command: z.string(),
  status: z.string().describe("running, completed, timed_out, killed or lost"),
  pid: z.int().nullable().describe("Null once the command has ended"),
  exited: z.boolean(),
  exit_code: z.int().nullable(),
  exit_signal: z.string().nullable(),
  timed_out: z.boolean(),
  backgrounded: z.boolean(),
  duration_ms: z.int().nullable().describe("Null when the end of a lost session is not known"),
  waiting: z
    .string()
    .optional()
    .describe("The input that a program waits for, and how to answer; omitted if none does"),
  warnings: z
    .array(z.string())
    .describe("Problems that did not stop the command, such as a terminal that was not available"),
  note: z.string().nullable().describe("How the command ended and what to do next; list: why it may be incomplete"),
};

export const ExecResult = z.object({
  ...outcome,
  aggregated: z.string().describe("Output in order; the middle is omitted beyond 200,000 bytes"),
  tail: z.string().describe("The last 2,000 bytes of output"),
});

const ACTIONS = [
  "list",
  "poll",
  "log",
  "write",
  "send-keys",
  "submit",
  "paste",
  "screen",
  "wait",
  "extend",
  "resize",
  "kill",
  "clear",
  "remove",
] as const;

export const ProcessInput = z.strictObject({
  action: z.enum(ACTIONS).describe("The action to perform; all except list require session_id"),
  session_id: z.string().min(1).max(200).optional().describe("The session_id that `exec` returned"),
  data: z.string().optional().describe("write, submit, paste: the text"),
  eof: z.boolean().default(false).describe("write: close stdin afterwards"),
  keys: z
    .array(z.string())
    .min(1)
    .optional()
    .describe('send-keys: key names or characters, such as ["C-c"], ["Up", "Enter"] or ["y"]'),
  offset: z
    .int()
    .optional()
    .describe("log: lines to skip; negative values count from the end (default: the last lines)"),
  limit: z
    .int()
    .min(1)
    .max(MAX_LINES)
    .default(DEFAULT_LINES)
    .describe("log: maximum number of lines; list: maximum number of sessions"),
  pattern: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe(
      "wait: return when this regular expression matches output since the last read or input; ^ and $ match at each line",
    ),
  quietMs: z.int().min(1).max(MAX_MS).optional().describe("wait: return after this many milliseconds without output"),
  input: z.boolean().default(false).describe("wait: return when the program waits for input at its terminal"),
  timeoutMs: z
    .int()
    .min(0)
    .max(MAX_MS)
    .default(30_000)
    .describe("wait: maximum wait in milliseconds; the call also returns when the command exits"),
  timeout: z
    .number()
    .min(0)
    .max(MAX_SECONDS)
    .optional()
    .describe("extend: new deadline in seconds from now, 0 for none"),
  columns: z.int().min(1).max(1000).optional().describe("resize: number of columns"),
  rows: z.int().min(1).max(1000).optional().describe("resize: number of rows"),
  signal: z
    .string()
    .min(1)
    .optional()
    .describe("kill: signal to send (default SIGTERM, which is followed by SIGKILL after 1 s; others are not)"),
});

const session = z.object({ ...outcome, tail: z.string().optional().describe("The last line of output") });

export const ProcessResult = z.object({
  action: z.enum(ACTIONS),
  sessions: z.array(session).optional(),
  total: z.int().optional().describe("list: total number of sessions; log: total number of lines"),
  ...session.partial().shape,
  output: z
    .string()
    .optional()
    .describe("poll, wait: new output; log: the lines; write, send-keys, submit, paste: the output that followed"),
  unread_bytes: z.int().optional().describe("poll, wait: bytes left to read; poll again to read them"),
  next_offset: z.int().optional().describe("log: offset of the next line"),
  reason: z.string().optional().describe("wait: exit, pattern, quiet, input or timeout"),
  match: z.string().nullable().optional(),
  screen: z
    .object({
      columns: z.int(),
      rows: z.int(),
      lines: z.array(z.string()),
      cursor: z.object({ column: z.int(), row: z.int(), visible: z.boolean() }),
      title: z.string(),
      alternate: z.boolean(),
    })
    .optional(),
  killed: z.boolean().optional().describe("False if the session had already ended"),
  removed: z.boolean().optional(),
  timeout: z.number().optional().describe("extend: seconds until the deadline, 0 for none"),
  columns: z.int().optional().describe("resize: the new number of columns"),
  rows: z.int().optional().describe("resize: the new number of rows"),
});
