import * as z from "zod";
import type { SessionHandle } from "../../core/gateway.ts";
import { SessionSchema } from "../../core/session-schema.ts";
import type { TerminalSize } from "../../core/terminal.ts";
import type { AuditLog } from "../../storage/audit.ts";
import { regularExpression } from "../../text/regex.ts";
import type { Caller } from "../guard/caller.ts";
import { OPERATORS_AND_AGENT, type Operation, type OperationCall, operation, READERS_AND_AGENT } from "../operation.ts";
import { flag, milliseconds, waitTime } from "../schemas.ts";

/** Enough for 8 MiB of input in base64, which is a third longer, and the JSON around it. */
const MAX_INPUT_BODY = 12 << 20;
const MAX_KEYS = 1000;

const Nothing = z.object({}).meta({ id: "Done" });
const session = ({ gateway, params }: OperationCall<unknown, unknown>) => gateway.find(params.id ?? "");

const Input = z
  .strictObject({
    text: z.string().optional().describe("Input as text"),
    base64: z.base64().optional().describe("Input as base64, instead of `text`"),
    eof: z.boolean().optional().describe("Close stdin after the input"),
  })
  .refine(
    ({ text, base64 }) => text === undefined || base64 === undefined,
    "must contain either `text` or `base64`, not both",
  )
  .refine(
    ({ text, base64, eof }) => text !== undefined || base64 !== undefined || eof,
    "must contain `text`, `base64` or `eof`",
  );

export const controlOperations: readonly Operation[] = [
  operation({
    method: "DELETE",
    path: "/v1/sessions/:id",
    id: "removeSession",
    summary: "Remove a session and its log",
    roles: OPERATORS_AND_AGENT,
    query: z.strictObject({ force: flag().optional().describe("Kill the session first if it is running") }),
    response: Nothing,
    handle: async (call) => {
      await (await session(call)).remove({ force: call.query.force ?? false });
      return {};
    },
  }),
  operation({
    method: "POST",
    path: "/v1/sessions/:id/input",
    id: "sendInput",
    summary: "Send input to a session",
    roles: OPERATORS_AND_AGENT,
    body: Input,
    maxBodyBytes: MAX_INPUT_BODY,
    response: Nothing,
    handle: async (call) => {
      const { text, base64, eof } = call.body;
      const data = base64 === undefined ? text : Buffer.from(base64, "base64");
      const target = await session(call);
      if (data !== undefined) await target.write(data);
      if (eof) await target.closeStdin();
      return {};
    },
  }),
  operation({
    method: "POST",
    path: "/v1/sessions/:id/keys",
    id: "sendKeys",
    summary: "Send keys to the terminal of a session",
    roles: OPERATORS_AND_AGENT,
    body: z.strictObject({
      keys: z.array(z.string().min(1).max(64)).min(1).max(MAX_KEYS).describe("Key names, such as `Enter` or `C-c`"),
    }),
    response: Nothing,
    handle: async (call) => {
      await (await session(call)).sendKeys(call.body.keys);
      return {};
    },
  }),
  operation({
    method: "POST",
    path: "/v1/sessions/:id/paste",
    id: "paste",
    summary: "Paste text into the terminal of a session",
    roles: OPERATORS_AND_AGENT,
    body: z.strictObject({
      text: z.string().describe("Text to paste"),
      submit: z.boolean().optional().describe("Press Enter after pasting"),
    }),
    response: Nothing,
    handle: async (call) => {
      await (await session(call)).paste(call.body.text, { submit: call.body.submit ?? false });
      return {};
    },
  }),
  operation({
    method: "POST",
    path: "/v1/sessions/:id/resize",
    id: "resize",
    summary: "Resize the terminal of a session",
    roles: OPERATORS_AND_AGENT,
    body: z.strictObject({
      columns: z.int().min(1).max(1000).describe("Width in columns"),
      rows: z.int().min(1).max(1000).describe("Height in rows"),
    }),
    response: Nothing,
    handle: async (call) => {
      await resizeAs(call.caller, await session(call), call.body, call.gateway.audit);
      return {};
    },
  }),
  operation({
    method: "POST",
    path: "/v1/sessions/:id/signal",
    id: "signal",
    summary: "Send a signal to all processes of a session",
    roles: OPERATORS_AND_AGENT,
    body: z.strictObject({
      signal: z.string().max(32).optional().describe("Name or number of the signal (default: SIGTERM)"),
      graceMs: milliseconds
        .nullable()
        .optional()
        .describe("Milliseconds until SIGKILL follows (default: 5000); null for never"),
      reason: z.string().max(4096).optional().describe("Reason, recorded in the audit log"),
    }),
    response: SessionSchema,
    handle: async (call) => {
      const { signal, graceMs, reason } = call.body;
      return (await session(call)).kill({
        ...(signal === undefined ? {} : { signal }),
        ...(graceMs === undefined ? {} : { graceMs }),
        ...(reason === undefined ? {} : { intent: reason }),
      });
    },
  }),
  operation({
    method: "POST",
    path: "/v1/sessions/:id/extend",
    id: "extend",
    summary: "Change the deadline of a session",
    roles: OPERATORS_AND_AGENT,
    body: z.strictObject({
      timeoutMs: milliseconds.describe("Time from now until the deadline, in milliseconds; 0 for no deadline"),
    }),
    response: SessionSchema,
    handle: async (call) => {
      const extended = await session(call);
      await extended.extend(call.body.timeoutMs);
      return extended.info();
    },
  }),
  operation({
    method: "POST",
    path: "/v1/sessions/:id/wait",
    id: "wait",
    summary: "Wait for a session to end or for other conditions",
    roles: READERS_AND_AGENT,
    body: z.strictObject({
      timeoutMs: waitTime.describe("Maximum time to wait, in milliseconds"),
      pattern: z.string().max(1024).optional().describe("Stop waiting when new output matches this regular expression"),
      quietMs: waitTime.optional().describe("Stop waiting when there has been no output for this many milliseconds"),
      input: z.boolean().optional().describe("Stop waiting when the program waits for input on its terminal"),
    }),
    response: z
      .object({
        reason: z.enum(["exit", "pattern", "quiet", "input", "timeout"]).describe("Condition that was met first"),
        match: z.string().nullable().describe("Text that the pattern matched"),
        offset: z.int().describe("Byte offset in the log after the match, or at the end of the wait"),
        info: SessionSchema,
      })
      .meta({ id: "WaitOutcome" }),
    handle: async (call) => {
      const { timeoutMs, pattern, quietMs, input } = call.body;
      return (await session(call)).waitFor({
        timeoutMs,
        signal: call.disconnected,
        ...(pattern === undefined ? {} : { pattern: regularExpression(pattern, "pattern") }),
        ...(quietMs === undefined ? {} : { quietMs }),
        ...(input === undefined ? {} : { input }),
      });
    },
  }),
];

/** Resizes the terminal of a session and records the caller in the audit log. */
export async function resizeAs(
  { name, channel }: Pick<Caller, "name" | "channel">,
  session: SessionHandle,
  { columns, rows }: TerminalSize,
  audit: Pick<AuditLog, "append">,
): Promise<void> {
  await session.resize({ columns, rows });
  audit.append({
    kind: "resize",
    agent: session.info().agent,
    session: session.id,
    actor: name,
    channel,
    outcome: "done",
    summary: `${session.name}: ${columns}x${rows}`,
    detail: { columns, rows },
  });
}
