import * as z from "zod";
import { DEFAULT_LINES, MAX_LINES } from "../sessions.ts";

export const DEFAULT_YIELD_MS = 10_000;
export const DEFAULT_TIMEOUT = 1800;
/** From SIGTERM to SIGKILL, at a timeout and when it is killed. */
export const GRACE_MS = 1000;
export const READER = "shell";

const MAX_MS = 24 * 3600 * 1000;
const MAX_SECONDS = 2_147_483;

export const ExecInput = z.strictObject({
  command: z.string().min(1, "must not be empty").describe("Command line for bash"),
  workdir: z.string().min(1).optional().describe("Working directory within the workspace; default its root"),
  env: z.record(z.string(), z.string()).optional().describe("Additional environment variables"),
  yieldMs: z
    .int()
    .min(0)
    .max(MAX_MS)
    .default(DEFAULT_YIELD_MS)
    .describe("Wait so long for it; then it carries on in the background and its session_id comes back"),
  background: z.boolean().default(false).describe("Do not wait for it at all"),
  timeout: z
    .number()
    .min(0)
    .max(MAX_SECONDS)
    .optional()
    .describe(`Seconds until it is ended, also in the background; default ${DEFAULT_TIMEOUT}, 0: never`),
  pty: z
    .union([z.literal("auto"), z.boolean()], 'must be "auto", true or false')
    .default("auto")
    .describe("Run it on a terminal (120 x 30): where it needs one, always, or never"),
  security: z
    .enum(["deny", "allowlist", "full"])
    .optional()
    .describe("Judge it by a stricter mode than is configured; a looser one is ignored"),
  ask: z
    .enum(["off", "on-miss", "always"])
    .optional()
    .describe("Ask a person more often than is configured; less often is ignored"),
});

const outcome = {
  session_id: z.string(),
  command: z.string(),
  status: z.string().describe("running, completed, timed_out, killed or lost"),
  pid: z.int().nullable().describe("While it runs"),
  exited: z.boolean(),
  exit_code: z.int().nullable(),
  exit_signal: z.string().nullable(),
  timed_out: z.boolean(),
  backgrounded: z.boolean(),
  duration_ms: z.int(),
  warnings: z.array(z.string()).describe("Every fallback that was taken"),
};

export const ExecResult = z.object({
  ...outcome,
  aggregated: z.string().describe("All output in order, the middle left out over 200,000 bytes"),
  tail: z.string().describe("The last 2,000 bytes"),
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
  action: z.enum(ACTIONS).describe("What to do; all but list need session_id"),
  session_id: z.string().min(1).max(200).optional().describe("Which session, as exec returned it"),
  data: z.string().optional().describe("write, submit, paste: the text"),
  eof: z.boolean().default(false).describe("write: close its input afterwards"),
  keys: z.array(z.string()).min(1).optional().describe('send-keys: such as ["C-c"], ["Up", "Enter"] or ["y"]'),
  offset: z.int().optional().describe("log: lines to skip; negative from the end. Default: the last lines"),
  limit: z.int().min(1).max(MAX_LINES).default(DEFAULT_LINES).describe("log: lines, list: sessions, at most"),
  pattern: z.string().min(1).max(1000).optional().describe("wait: until this regular expression matches new output"),
  quietMs: z.int().min(1).max(MAX_MS).optional().describe("wait: until nothing was written for so long"),
  input: z.boolean().default(false).describe("wait: until it waits for input at its terminal"),
  timeoutMs: z.int().min(0).max(MAX_MS).default(30_000).describe("wait: at most so long; its exit also ends it"),
  timeout: z.number().min(0).max(MAX_SECONDS).optional().describe("extend: seconds from now, 0: no deadline"),
  columns: z.int().min(1).max(1000).optional().describe("resize"),
  rows: z.int().min(1).max(1000).optional().describe("resize"),
  signal: z.string().min(1).optional().describe("kill: default SIGTERM, followed by SIGKILL after 1 s"),
});

const session = z.object({ ...outcome, tail: z.string().optional().describe("Its last line") });

export const ProcessResult = z.object({
  action: z.enum(ACTIONS),
  sessions: z.array(session).optional(),
  total: z.int().optional().describe("list: sessions, log: lines there are in all"),
  note: z.string().optional().describe("list: what may be missing of it"),
  ...session.partial().shape,
  output: z.string().optional().describe("poll: what is new, log: the lines"),
  unread_bytes: z.int().optional().describe("poll: more is there already: poll again"),
  next_offset: z.int().optional().describe("log: where to go on"),
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
  killed: z.boolean().optional().describe("False: it had ended before"),
  removed: z.boolean().optional(),
});
