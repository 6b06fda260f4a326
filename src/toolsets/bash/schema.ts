import * as z from "zod";

export const DEFAULT_TIMEOUT = 120;
export const MAX_TIMEOUT = 600;
/** Whose reading position BashOutput goes by. */
export const READER = "bash";

const shellId = z.string().min(1).max(200).describe("The shell_id that Bash returned");

export const BashInput = z.strictObject({
  command: z.string().min(1, "must not be empty").describe("The command to run, as given to `bash -c`"),
  description: z.string().min(1, "must not be empty").max(4096).describe("What it is for, in 5 to 10 words; recorded"),
  timeout: z
    .number()
    .positive()
    .optional()
    .describe(`Seconds until it is killed; default ${DEFAULT_TIMEOUT}, at most ${MAX_TIMEOUT}. Ignored in background`),
  run_in_background: z.boolean().default(false).describe("Return a shell_id at once; the command runs on"),
});

export const BashOutputInput = z.strictObject({
  shell_id: shellId,
  filter: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe("Regular expression: only matching lines are given; the others count as read"),
});

export const KillShellInput = z.strictObject({ shell_id: shellId });

const status = z.string().describe("running, completed, timed_out, killed, failed or lost");
const exitCode = z.int().nullable().describe("124 after a timeout, 128+n after signal n; null while it runs");

export const BashResult = z.object({
  shell_id: z.string(),
  status,
  exit_code: exitCode,
  output: z.string().describe("stdout and stderr in the order they were written"),
  timed_out: z.boolean(),
  left_out_bytes: z.int().describe("Bytes of the output that are not in `output`"),
  duration_ms: z.int(),
  warnings: z.array(z.string()),
});

export const BashOutputResult = z.object({
  shell_id: z.string(),
  status,
  exit_code: exitCode,
  output: z.string().describe("What is new since the last call"),
  unread_bytes: z.int().describe("More is there already: call again"),
  skipped_bytes: z.int().describe("Older output that was passed over: more than 1 MiB was waiting"),
});

export const KillShellResult = z.object({
  shell_id: z.string(),
  status,
  exit_code: exitCode,
  killed: z.boolean().describe("False: it had ended before"),
});
