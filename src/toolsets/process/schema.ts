import * as z from "zod";
import { waitSeconds } from "../schema.ts";

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
    .describe("The program to run if args is present, otherwise a shell command line"),
  args: z.array(z.string()).optional().describe("Arguments, one per element; the program runs without a shell"),
  working_directory: z
    .string()
    .min(1)
    .optional()
    .describe("Working directory inside the workspace (default: the workspace root)"),
  environment: z
    .record(z.string(), z.string())
    .optional()
    .describe("Additional environment variables; protected variables cannot be set"),
  timeout: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT)
    .optional()
    .describe(`Timeout in seconds (default ${DEFAULT_TIMEOUT}, maximum ${MAX_TIMEOUT}); ignored in the background`),
  background: z.boolean().default(false).describe("Return a process_id immediately; no timeout applies"),
  stdin: z.string().optional().describe("Text for stdin, which is otherwise empty; ignored in the background"),
  cpu_limit: z.number().positive().optional().describe("CPU limit in cores; 0.5 is half a core"),
  memory_limit: z
    .int()
    .min(1 << 20)
    .optional()
    .describe("Memory limit of the process tree in bytes"),
  stdout_lines: z.int().min(0).max(10_000).default(100).describe("How many of the last lines each summary contains"),
});

export const MonitorInput = z.strictObject({
  process_id: processId,
  wait: waitSeconds("the process to exit"),
});

export const KillInput = z.strictObject({
  process_id: processId,
  signal: z
    .string()
    .min(1)
    .default("SIGTERM")
    .describe("Signal name, such as SIGTERM for a graceful exit or SIGKILL to force it"),
  force_after: z
    .int()
    .min(0)
    .max(MAX_TIMEOUT)
    .default(DEFAULT_FORCE_AFTER)
    .describe("Seconds from SIGTERM to SIGKILL; 0 disables SIGKILL. Ignored for other signals"),
});

export const ListInput = z.strictObject({
  state_filter: z.enum(FILTERS).default("all").describe("Only processes in this state"),
  limit: z.int().min(1).max(MAX_LISTED).default(DEFAULT_LIST).describe("Maximum number of processes"),
});

export const LogsInput = z.strictObject({
  process_id: processId,
  stream: z.enum(STREAMS).default("both").describe("Output stream to read"),
  offset: z.int().min(0).default(0).describe("Byte offset to start at"),
  limit: z.int().min(1).optional().describe("Maximum number of bytes per stream (at most 64 KiB)"),
  wait: waitSeconds("the process to exit"),
});

const usage = z
  .object({ cpu_ms: z.int(), memory_peak_bytes: z.int(), io_read_bytes: z.int(), io_write_bytes: z.int() })
  .describe("Resource usage of the whole process tree");
const state = z.enum(STATES);
const exitCode = z.int().nullable().describe("Null while running, or if the process was killed or timed out");

const remarks = {
  warnings: z.array(z.string()).optional().describe("Problems that did not stop the command"),
  note: z.string().optional().describe("How the command ended and what to do next"),
};

export const RunResult = z.object({
  exit_code: exitCode,
  stdout_summary: z.string().describe("Last lines; process.logs returns all output"),
  stderr_summary: z.string(),
  duration_ms: z.int(),
  process_id: z.string(),
  state,
  resource_usage: usage,
  ...remarks,
});

const entry = {
  process_id: z.string(),
  command: z.string(),
  state,
  exit_code: exitCode,
  started_at: z.string().describe("ISO 8601"),
  duration_ms: z.int().nullable().describe("Null when the end of a lost process is not known"),
  resource_usage: usage,
  host: z.string().optional().describe("The machine of the fleet that runs the process"),
};

export const MonitorResult = z.object({ ...entry, ...remarks });

export const KillResult = z.object({
  killed: z.boolean(),
  signal_sent: z.string(),
  process_id: z.string(),
  state,
});

export const ListResult = z.object({
  processes: z.array(z.object(entry)),
  total: z.int().describe("Number of processes that match, which may be more than are listed"),
  note: z.string().optional().describe("Why the list may be incomplete, such as machines that did not respond"),
});

export const LogsResult = z.object({
  stdout: z.string(),
  stderr: z.string(),
  stdout_size: z.int().describe("Total bytes written"),
  stderr_size: z.int(),
  stdout_consumed: z.int().describe("Bytes covered by this result; continue at offset + stdout_consumed"),
  stderr_consumed: z.int(),
  truncated: z.boolean().describe("True when there is more output than was returned"),
  process_id: z.string(),
  state,
});
