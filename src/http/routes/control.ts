import * as z from "zod";
import type { SessionHandle } from "../../core/gateway.ts";
import { SessionSchema } from "../../core/session-schema.ts";
import type { TerminalSize } from "../../core/terminal.ts";
import type { AuditLog } from "../../storage/audit.ts";
import { regularExpression } from "../../text/regex.ts";
import type { Caller } from "../guard/authenticate.ts";
import { OPERATORS_AND_AGENT, type Operation, type OperationCall, operation, READERS_AND_AGENT } from "../operation.ts";
import { flag, milliseconds, waitTime } from "../schemas.ts";

/** Base64 takes a third more. */
const MAX_INPUT_BODY = 12 << 20;
const MAX_KEYS = 1000;

const Nothing = z.object({}).meta({ id: "Done" });
const session = ({ gateway, params }: OperationCall<unknown, unknown>) => gateway.find(params.id ?? "");

const Input = z
  .strictObject({
    text: z.string().optional(),
    base64: z.base64().optional(),
    eof: z.boolean().optional().describe("Close its input after that"),
  })
  .refine(({ text, base64 }) => text === undefined || base64 === undefined, "give `text` or `base64`, not both")
  .refine(
    ({ text, base64, eof }) => text !== undefined || base64 !== undefined || eof,
    "give `text`, `base64` or `eof`",
  );

export const controlOperations: readonly Operation[] = [
  operation({
    method: "DELETE",
    path: "/v1/sessions/:id",
    id: "removeSession",
    summary: "Forget a session and its log; with force also one that runs, which is killed",
    roles: OPERATORS_AND_AGENT,
    query: z.strictObject({ force: flag().optional() }),
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
    summary: "Write to a session's input, or close it",
    roles: OPERATORS_AND_AGENT,
    body: Input,
    maxBodyBytes: MAX_INPUT_BODY,
    response: Nothing,
    handle: async (call) => {
      const { text, base64, eof } = call.body;
      const data = base64 === undefined ? text : Buffer.from(base64, "base64");
      const typedInto = await session(call);
      if (data !== undefined) await typedInto.write(data);
      if (eof) await typedInto.closeStdin();
      return {};
    },
  }),
  operation({
    method: "POST",
    path: "/v1/sessions/:id/keys",
    id: "sendKeys",
    summary: "Type keys by name into a session on a terminal",
    roles: OPERATORS_AND_AGENT,
    body: z.strictObject({ keys: z.array(z.string().min(1).max(64)).min(1).max(MAX_KEYS) }),
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
    summary: "Paste a text into a session on a terminal",
    roles: OPERATORS_AND_AGENT,
    body: z.strictObject({ text: z.string(), submit: z.boolean().optional() }),
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
    summary: "Give a session's terminal another size",
    roles: OPERATORS_AND_AGENT,
    body: z.strictObject({ columns: z.int().min(1).max(1000), rows: z.int().min(1).max(1000) }),
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
    summary: "Send a signal to a session and everything it started; SIGTERM ends it, SIGKILL after the grace time",
    roles: OPERATORS_AND_AGENT,
    body: z.strictObject({
      signal: z.string().max(32).optional().describe("A name or a number; default SIGTERM"),
      graceMs: milliseconds.nullable().optional().describe("Until SIGKILL follows; default 5000, null never"),
      reason: z.string().max(4096).optional().describe("Goes to the audit"),
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
    summary: "Move a session's deadline to so long from now; 0 lifts it",
    roles: OPERATORS_AND_AGENT,
    body: z.strictObject({ timeoutMs: milliseconds }),
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
    summary: "Wait for a session's end, or for what it writes; answers after the time given at the latest",
    roles: READERS_AND_AGENT,
    body: z.strictObject({
      timeoutMs: waitTime,
      pattern: z.string().max(1024).optional().describe("A regular expression over what it writes from now on"),
      quietMs: waitTime.optional().describe("Nothing was written for so long"),
      input: z.boolean().optional().describe("It waits for input at its terminal"),
    }),
    response: z
      .object({
        reason: z.enum(["exit", "pattern", "quiet", "input", "timeout"]),
        match: z.string().nullable(),
        offset: z.int(),
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

/** Resizes a session's terminal and records who did. */
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
