import * as z from "zod";
import { waitSeconds } from "../schema.ts";

export const DEFAULT_TIMEOUT = 120;
export const MAX_TIMEOUT = 600;
/** The name of the read position that BashOutput advances. */
export const READER = "bash";

const shellId = z.string().min(1).max(200).describe("The shell_id that Bash returned");

export const BashInput = z.strictObject({
  command: z.string().min(1, "must not be empty").describe("The command to run, passed to `bash -c`"),
  description: z
    .string()
    .min(1, "must not be empty")
    .max(4096)
    .describe("The purpose of the command, in 5 to 10 words; recorded in the audit log"),
  timeout: z
    .number()
    .positive()
    .optional()
    .describe(`Timeout in seconds (default ${DEFAULT_TIMEOUT}, maximum ${MAX_TIMEOUT}); ignored in the background`),
  run_in_background: z
    .boolean()
    .default(false)
    .describe("Return a shell_id immediately; the command keeps running, without a timeout"),
});

export const BashOutputInput = z.strictObject({
  shell_id: shellId,
  filter: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe(
      "Regular expression; only matching lines are returned, and the lines searched are marked as read. An incomplete last line is searched once it is complete",
    ),
  wait: waitSeconds("the command to exit or, with filter, for a matching line"),
});

export const KillShellInput = z.strictObject({ shell_id: shellId });

const status = z.string().describe("running, completed, timed_out, killed, failed or lost");
const exitCode = z.int().nullable().describe("124 after a timeout, 128+n after signal n, null while running");

const remarks = {
  warnings: z.array(z.string()).describe("Problems that did not stop the command"),
  note: z.string().nullable().describe("What the output and the exit code do not say, and what to do next"),
};

export const BashResult = z.object({
  shell_id: z.string(),
  status,
  exit_code: exitCode,
  output: z.string().describe("stdout and stderr merged in the order they were written"),
  timed_out: z.boolean(),
  left_out_bytes: z.int().describe("Bytes of the output that are not in `output`"),
  duration_ms: z.int(),
  ...remarks,
});

export const BashOutputResult = z.object({
  shell_id: z.string(),
  status,
  exit_code: exitCode,
  output: z.string().describe("Output since the last call"),
  unread_bytes: z.int().describe("Bytes left to read; call again to read them"),
  skipped_bytes: z.int().describe("Bytes that are permanently missing from the log; marked in `output` where they are"),
  ...remarks,
});

export const KillShellResult = z.object({
  shell_id: z.string(),
  status,
  exit_code: exitCode,
  killed: z.boolean().describe("False if the command had already exited"),
});
