import * as z from "zod";
import { LONGEST_TIMEOUT_MS } from "./clock.ts";

/** Text that is passed to execve, which would end it at the first NUL byte. */
const text = z.string().refine((value) => !value.includes("\0"), "must not contain NUL bytes");

/** The maximum length of stdin in a request, in characters. Longer input is sent with `write`. */
const STDIN_MAX = 8 << 20;

/** Matches text that can be used unchanged as a token of a NATS subject. */
const LABEL = /^[A-Za-z0-9_-]{1,63}$/;

const PORT = z.int().min(1).max(65_535);

const milliseconds = z.number().int().min(0).max(LONGEST_TIMEOUT_MS);

/** The schema of a request. Its descriptions appear in the library reference and in the OpenAPI document. */
export const RunRequest = z.strictObject({
  command: text.min(1, "must not be empty").describe("Shell text, or the program when `args` is given"),
  args: z.array(text).optional().describe("Run `command` directly with these arguments, without a shell"),
  cwd: text.min(1).optional().describe("Working directory (default: the workspace)"),
  env: z
    .record(text.regex(/^[^=]+$/, "must be a variable name without `=`"), text)
    .optional()
    .describe("Variables added to the inherited environment"),
  stdin: z
    .union(
      [z.literal("none"), z.literal("open"), z.strictObject({ text: z.string().max(STDIN_MAX) })],
      `must be "none", "open" or { text } with at most ${STDIN_MAX} characters`,
    )
    .optional()
    .describe(
      "`none` (default) is /dev/null, `open` accepts `write` while the command runs, `{ text }` is the whole input",
    ),
  capture: z
    .enum(["apart", "merged"])
    .optional()
    .describe("Separate stdout and stderr (`apart`, default), or one stream in exact order (`merged`)"),
  timeoutMs: milliseconds
    .optional()
    .describe("Timeout in milliseconds; 0 for none (default: 60000 for `run`, none for `start`)"),
  graceMs: milliseconds
    .optional()
    .describe("Milliseconds between SIGTERM and SIGKILL; 0 to kill immediately (default: 5000)"),
  diskCap: z
    .number()
    .int()
    .refine((bytes) => bytes === 0 || bytes >= 65536, "must be 0 or at least 65536")
    .optional()
    .describe("Bytes kept per stream; 0 for no limit (default: 64 MiB)"),
  logFile: text.min(1).optional().describe("A file that also receives the output of both streams as plain text"),
  name: z
    .string()
    .regex(
      /^[a-z0-9](?:[a-z0-9_.-]{0,61}[a-z0-9])?$/i,
      "must be 1 to 63 letters, digits, `-`, `_` or `.`, with a letter or digit at both ends",
    )
    .optional()
    .describe("Session name (default: a random two-word name)"),
  security: z
    .enum(["deny", "allowlist", "full"])
    .optional()
    .describe("A stricter security mode than configured for this command; a less strict one is ignored"),
  ask: z
    .enum(["off", "on-miss", "always"])
    .optional()
    .describe("A stricter approval mode than configured for this command; a less strict one is ignored"),
  sandbox: z
    .enum(["off", "read-only", "workspace-write", "isolated"])
    .optional()
    .describe("Sandbox profile (default: the configured one). A less strict profile requires approval"),
  network: z
    .union(
      [z.enum(["on", "off"]), z.strictObject({ ports: z.array(PORT).max(64) })],
      'must be "on", "off" or { ports }',
    )
    .optional()
    .describe("Network access: on, off, or the listed TCP ports. More access than configured requires approval"),
  writable: z
    .array(text.min(1))
    .max(64)
    .optional()
    .describe("Additional writable folders and files. Paths that the operator has not configured require approval"),
  limits: z
    .strictObject({
      cpu: z.number().positive().max(1024).optional().describe("CPUs; 0.5 is half a CPU"),
      memoryBytes: z
        .int()
        .min(1 << 20)
        .optional()
        .describe("Memory of the whole process tree, in bytes"),
      processes: z.int().min(1).optional().describe("Concurrent processes and threads of the whole process tree"),
    })
    .optional()
    .describe("Resource limits of the whole process tree; they can only be stricter than the configured ones"),
  pty: z
    .union([z.literal("auto"), z.boolean()], 'must be "auto", true or false')
    .optional()
    .describe("Run on a terminal: `true`, `false` (default), or `auto` for programs that need one"),
  size: z
    .strictObject({ columns: z.int().min(1).max(1000), rows: z.int().min(1).max(1000) })
    .optional()
    .describe("Terminal size (default: 120 columns, 30 rows)"),
  host: z.string().min(1).max(63).optional().describe("Fleet only: run on this host"),
  labels: z
    .record(z.string().regex(LABEL), z.string().regex(LABEL))
    .refine((labels) => Object.keys(labels).length <= 16, "must have at most 16 entries")
    .optional()
    .describe("Fleet only: run on a host that has all of these labels"),
  retry: z
    .literal("idempotent")
    .optional()
    .describe(
      "Fleet only: run again on another host if the first one is lost. Use it only for commands that may run twice",
    ),
  intent: z.string().max(4096).optional().describe("The purpose of the command, as stated by the caller"),
});
/**
 * A request to run a command. `command` alone is shell text, which bash runs; with `args`, the program runs directly,
 * without a shell. Unknown fields are rejected.
 *
 * @example
 * ```ts
 * import type { RunRequest } from "sallyport";
 *
 * const request: RunRequest = {
 *   command: "grep",
 *   args: ["-c", "it's"],
 *   stdin: { text: "it's fine\n" },
 *   timeoutMs: 10_000,
 *   intent: "count matches",
 * };
 * console.log((await gateway.run(request)).stdout.trim()); // 1
 * ```
 */
export type RunRequest = z.infer<typeof RunRequest>;

/** Validates a request. This is a function so that the bundled command line can load this file on first use. */
export function parseRequest(request: unknown): z.ZodSafeParseResult<RunRequest> {
  return RunRequest.safeParse(request);
}

/** Returns the names of all request fields. */
export function requestFields(): string[] {
  return Object.keys(RunRequest.shape);
}
