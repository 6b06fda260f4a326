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
    .describe(`${what}; recorded in the audit log`);
const cwd = z
  .string()
  .min(1)
  .optional()
  .describe("Working directory inside the workspace (default: the workspace root)");

export const RunInput = z.strictObject({
  command: command("The command to run"),
  intent: intent("What the command does and why"),
  timeout: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT)
    .optional()
    .describe(`Timeout in seconds (default ${DEFAULT_TIMEOUT}, maximum ${MAX_TIMEOUT})`),
  cwd,
  env: z.record(z.string(), z.string()).optional().describe("Environment variables, added to the current ones"),
  shell: z.boolean().default(false).describe("Run through the shell; required for pipes, redirections, && and globs"),
});

export const RunBackgroundInput = z.strictObject({
  command: command("The command to run through the shell"),
  intent: intent("What the process does and how long it should run"),
  cwd,
  log_file: z
    .string()
    .min(1)
    .optional()
    .describe("File inside the workspace that receives stdout and stderr; overwritten if it exists"),
});

export const KillProcessInput = z.strictObject({
  pid: z.int().min(1).describe("The pid that run_background returned"),
  intent: intent("Which process is terminated and why"),
  graceful_timeout: z.int().min(0).max(MAX_TIMEOUT).default(DEFAULT_GRACE).describe("Seconds from SIGTERM to SIGKILL"),
});

export const IsBlockedInput = z.strictObject({
  command: command("The command to check"),
  intent: z.string().max(4096).optional().describe("Why the command is checked; not recorded"),
});

const blocked = z.boolean().describe("True if the safety rules block the command; nothing ran");
const reason = z.string().nullable();
const warnings = z.array(z.string()).optional().describe("Problems that did not stop the command");
const repeated = z.string().describe("The command; the middle of one longer than 4 KiB is left out");

export const RunResult = z.object({
  success: z.boolean().describe("True if the exit code is 0"),
  command: repeated,
  exit_code: z.int().describe("-1 after an error or a timeout, -n after signal n"),
  stdout: z.string(),
  stderr: z.string(),
  duration_ms: z.int(),
  timed_out: z.boolean(),
  blocked,
  block_reason: reason,
  process_id: z.string().optional().describe("The session ID, if the command continues in the background"),
  pid: z.int().nullable().optional(),
  warnings,
  note: z.string().optional().describe("How the command ended and what to do next"),
});

export const RunBackgroundResult = z.object({
  success: z.boolean().describe("True if the process was started"),
  pid: z.int().nullable().describe("The pid to pass to kill_process"),
  command: repeated,
  process_id: z.string().describe("The session ID, for tools of other toolsets"),
  blocked: blocked.optional(),
  block_reason: reason.optional(),
  warnings,
});

export const KillProcessResult = z.object({
  success: z.boolean().describe("True if the process is no longer running"),
});

export const IsBlockedResult = z.object({ blocked: z.boolean(), block_reason: reason });
