import * as z from "zod";

export const DEFAULT_TIMEOUT = 60;
export const MAX_TIMEOUT = 3600;
export const DEFAULT_GRACE = 5;

const command = (what: string) => z.string().min(1, "must not be empty").describe(what);
const intent = (what: string) =>
  z
    .string()
    .max(4096)
    .refine((text) => text.trim() !== "", "must not be empty")
    .describe(`${what}; goes to the audit log`);
const cwd = z.string().min(1).optional().describe("Working directory within the workspace; default its root");

export const RunInput = z.strictObject({
  command: command("The command to execute"),
  intent: intent("What is run and why"),
  timeout: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT)
    .optional()
    .describe(`Seconds until it is ended; default ${DEFAULT_TIMEOUT}, at most ${MAX_TIMEOUT}`),
  cwd,
  env: z.record(z.string(), z.string()).optional().describe("Environment variables, merged with the current ones"),
  shell: z.boolean().default(false).describe("Run through the shell: needed for pipes, redirections, && and globs"),
});

export const RunBackgroundInput = z.strictObject({
  command: command("The command to run, through the shell"),
  intent: intent("What is started and how long it is to live"),
  cwd,
  log_file: z.string().min(1).optional().describe("File within the workspace for stdout and stderr; overwritten"),
});

export const KillProcessInput = z.strictObject({
  pid: z.int().min(1).describe("The pid that run_background returned"),
  intent: intent("Which process is ended and why"),
  graceful_timeout: z.int().min(0).max(MAX_TIMEOUT).default(DEFAULT_GRACE).describe("Seconds from SIGTERM to SIGKILL"),
});

export const IsBlockedInput = z.strictObject({ command: command("The command to check") });

const blocked = z.boolean().describe("The safety rules forbid it; nothing ran");
const reason = z.string().nullable();

export const RunResult = z.object({
  success: z.boolean().describe("The exit code was 0"),
  command: z.string(),
  exit_code: z.int().describe("-1 for errors and timeouts, -n after signal n"),
  stdout: z.string(),
  stderr: z.string(),
  duration_ms: z.int(),
  timed_out: z.boolean(),
  blocked,
  block_reason: reason,
  process_id: z.string().optional().describe("Where it runs on in the background"),
  pid: z.int().nullable().optional(),
  note: z.string().optional().describe("What became of it and what to do next"),
});

export const RunBackgroundResult = z.object({
  success: z.boolean().describe("It was started"),
  pid: z.int().nullable().describe("For kill_process"),
  command: z.string(),
  process_id: z.string().describe("For the tools of other toolsets"),
  blocked: blocked.optional(),
  block_reason: reason.optional(),
});

export const KillProcessResult = z.object({
  success: z.boolean().describe("It is not running (any more)"),
});

export const IsBlockedResult = z.object({ blocked: z.boolean(), block_reason: reason });
