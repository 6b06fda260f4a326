import * as z from "zod";
import { LONGEST_TIMEOUT_MS } from "./clock.ts";

/** Text that is passed to execve, which would end it at the first NUL byte. */
const text = z.string().refine((value) => !value.includes("\0"), "must not contain NUL bytes");

/** The most characters of stdin in a request. Longer input is sent with `write`. */
const STDIN_MAX = 8 << 20;

/** Matches text that can be used unchanged as a token of a NATS subject. */
const LABEL = /^[A-Za-z0-9_-]{1,63}$/;

const PORT = z.int().min(1).max(65_535);

const milliseconds = z.number().int().min(0).max(LONGEST_TIMEOUT_MS);

/** What a caller asks for. `command` alone is shell text; with `args` it is run directly. */
export const RunRequest = z.strictObject({
  command: text.min(1, "must not be empty").describe("Shell text, or the program when `args` is given"),
  args: z.array(text).optional().describe("Run `command` directly with these arguments, without a shell"),
  cwd: text.min(1).optional().describe("Working directory; the workspace when left out"),
  env: z
    .record(text.regex(/^[^=]+$/, "must be a variable name without `=`"), text)
    .optional()
    .describe("Variables set on top of the inherited environment"),
  stdin: z
    .union(
      [z.literal("none"), z.literal("open"), z.strictObject({ text: z.string().max(STDIN_MAX) })],
      `must be "none", "open" or { text } with at most ${STDIN_MAX} characters`,
    )
    .optional()
    .describe("`none` (default) is /dev/null, `open` stays open for `write`, `{ text }` is given whole"),
  capture: z.enum(["apart", "merged"]).optional().describe("Two streams (default), or one in exact order"),
  timeoutMs: milliseconds.optional().describe("Deadline; 0 is none. Default 60000 for `run`, none for `start`"),
  graceMs: milliseconds.optional().describe("From SIGTERM to SIGKILL; default 5000, 0 kills at once"),
  diskCap: z
    .number()
    .int()
    .refine((bytes) => bytes === 0 || bytes >= 65536, "must be 0 or at least 65536")
    .optional()
    .describe("Bytes kept per stream; default 64 MiB, 0 is no cap"),
  logFile: text.min(1).optional().describe("A plain merged log is written here as well"),
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/i, "must be 1 to 63 letters, digits, `-`, `_` or `.`")
    .optional()
    .describe("A readable name; two words are made up when left out"),
  security: z
    .enum(["deny", "allowlist", "full"])
    .optional()
    .describe("Judge this command by a stricter mode than configured; a looser one is ignored"),
  ask: z
    .enum(["off", "on-miss", "always"])
    .optional()
    .describe("Ask for this command more often than configured; less often is ignored"),
  sandbox: z
    .enum(["off", "read-only", "workspace-write", "isolated"])
    .optional()
    .describe("What the kernel keeps it from; the configured profile when left out. A looser one needs approval"),
  network: z
    .union(
      [z.enum(["on", "off"]), z.strictObject({ ports: z.array(PORT).max(64) })],
      'must be "on", "off" or { ports }',
    )
    .optional()
    .describe("Whether it reaches the network, or which TCP ports only. More than configured needs approval"),
  writable: z
    .array(text.min(1))
    .max(64)
    .optional()
    .describe("Further folders or files it may write to. What the operator has not named needs approval"),
  limits: z
    .strictObject({
      cpu: z.number().positive().max(1024).optional().describe("Cores; 0.5 is half of one"),
      memoryBytes: z
        .int()
        .min(1 << 20)
        .optional()
        .describe("Memory of the whole process tree"),
      processes: z.int().min(1).optional().describe("Processes of the tree at a time"),
    })
    .optional()
    .describe("Resource limits of the whole process tree; they can only tighten what is configured"),
  pty: z
    .union([z.literal("auto"), z.boolean()], 'must be "auto", true or false')
    .optional()
    .describe("Run it on a terminal: always, never (default), or where the program needs one"),
  size: z
    .strictObject({ columns: z.int().min(1).max(1000), rows: z.int().min(1).max(1000) })
    .optional()
    .describe("The terminal's size; default 120 by 30"),
  host: z.string().min(1).max(63).optional().describe("Of a fleet: run it on this host"),
  labels: z
    .record(z.string().regex(LABEL), z.string().regex(LABEL))
    .refine((labels) => Object.keys(labels).length <= 16, "must be at most 16")
    .optional()
    .describe("Of a fleet: run it on a host with all of these labels"),
  retry: z
    .literal("idempotent")
    .optional()
    .describe("Of a fleet: run it again on another host where its own is lost; only what may run twice"),
  intent: z.string().max(4096).optional().describe("What the caller says it is for"),
});
export type RunRequest = z.infer<typeof RunRequest>;

/** Validates a request. A function, so that the bundled command line can load this file on first use. */
export function parseRequest(request: unknown): z.ZodSafeParseResult<RunRequest> {
  return RunRequest.safeParse(request);
}

export function requestFields(): string[] {
  return Object.keys(RunRequest.shape);
}
