import * as z from "zod";

export const DEFAULT_TIMEOUT = 300;
export const MAX_TIMEOUT = 3600;
export const DEFAULT_FORCE_AFTER = 10;
export const STATES = ["running", "completed", "killed", "timed_out"] as const;
const FILTERS = [...STATES, "all"] as const;
export const STREAMS = ["stdout", "stderr", "both"] as const;
export const DEFAULT_LIST = 50;
export const MAX_LISTED = 500;

const processId = z.string().min(1).max(200).describe("The process_id that process.run returned");

export const RunInput = z.strictObject({
  command: z
    .string()
    .min(1, "must not be empty")
    .describe("The program when args are given; otherwise a command line for the shell"),
  args: z.array(z.string()).optional().describe("Arguments, one element each; the program is then run without a shell"),
  working_directory: z.string().min(1).optional().describe("Within the workspace; default its root"),
  environment: z
    .record(z.string(), z.string())
    .optional()
    .describe("Additional variables; system-protected ones cannot be overridden"),
  timeout: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT)
    .optional()
    .describe(`Seconds in the foreground; default ${DEFAULT_TIMEOUT}, at most ${MAX_TIMEOUT}. Not for background`),
  background: z.boolean().default(false).describe("Return at once with a process_id; no timeout applies"),
  stdin: z.string().optional().describe("Input for the process; ignored in background"),
  cpu_limit: z.number().positive().optional().describe("Fraction of one core, 0.5 is half of one"),
  memory_limit: z
    .int()
    .min(1 << 20)
    .optional()
    .describe("Bytes, of the whole process tree"),
  stdout_lines: z.int().min(0).max(10_000).default(100).describe("How many last lines the summaries hold"),
});

export const MonitorInput = z.strictObject({ process_id: processId });

export const KillInput = z.strictObject({
  process_id: processId,
  signal: z
    .string()
    .min(1)
    .default("SIGTERM")
    .describe("SIGTERM to end it gracefully, SIGKILL to force it, or another"),
  force_after: z
    .int()
    .min(0)
    .max(MAX_TIMEOUT)
    .default(DEFAULT_FORCE_AFTER)
    .describe("Seconds from SIGTERM to SIGKILL; 0 never escalates. Only for SIGTERM"),
});

export const ListInput = z.strictObject({
  state_filter: z.enum(FILTERS).default("all").describe("Only processes in this state"),
  limit: z.int().min(1).max(MAX_LISTED).default(DEFAULT_LIST).describe("At most so many, the most recent first"),
});

export const LogsInput = z.strictObject({
  process_id: processId,
  stream: z.enum(STREAMS).default("both").describe("Which output stream"),
  offset: z.int().min(0).default(0).describe("Byte offset to start at"),
  limit: z.int().min(1).optional().describe("Bytes to return at most; never more than 64 KiB at a time"),
});

const usage = z
  .object({ cpu_ms: z.int(), memory_peak_bytes: z.int(), io_read_bytes: z.int(), io_write_bytes: z.int() })
  .describe("Of the whole process tree");
const state = z.enum(STATES);
const exitCode = z.int().nullable().describe("Null while it runs, or if it was killed or timed out");

export const RunResult = z.object({
  exit_code: exitCode,
  stdout_summary: z.string().describe("Last lines; process.logs has all"),
  stderr_summary: z.string(),
  duration_ms: z.int(),
  process_id: z.string(),
  state,
  resource_usage: usage,
  warnings: z.array(z.string()).optional(),
  note: z.string().optional().describe("What became of it and what to do next"),
});

const entry = {
  process_id: z.string(),
  command: z.string(),
  state,
  exit_code: exitCode,
  started_at: z.string().describe("ISO 8601"),
  duration_ms: z.int(),
  resource_usage: usage,
  host: z.string().optional().describe("The machine of a fleet it runs on"),
};

export const MonitorResult = z.object(entry);

export const KillResult = z.object({
  killed: z.boolean(),
  signal_sent: z.string(),
  process_id: z.string(),
  state,
});

export const ListResult = z.object({
  processes: z.array(z.object(entry)),
  total: z.int().describe("All that match, which may be more than are listed"),
  note: z.string().optional().describe("What may be missing: machines of the fleet that gave no answer"),
});

export const LogsResult = z.object({
  stdout: z.string(),
  stderr: z.string(),
  stdout_size: z.int().describe("Bytes written in all"),
  stderr_size: z.int(),
  stdout_consumed: z.int().describe("Bytes this answer covers: go on at offset + stdout_consumed"),
  stderr_consumed: z.int(),
  truncated: z.boolean().describe("There is more than was returned"),
  process_id: z.string(),
  state,
});
