import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { SallyportError } from "../core/error.ts";
import { failureText } from "../text/error-text.ts";
import { formatDuration } from "../text/format.ts";
import { terminalText } from "../text/terminal/terminal-text.ts";
import { truncateMiddle } from "../text/truncate.ts";
import type { Tool, ToolAnswer } from "../toolsets/tool.ts";
import { type Call, type Door, inCall } from "./agent-context.ts";
import type { Connection } from "./connection.ts";
import { hostDesk, NOBODY } from "./elicitation.ts";
import { unexpected, unknownTool } from "./errors.ts";

/** Text for a model, the same as data for a program. */
export function toolResult({ text, structured, isError }: ToolAnswer): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: structured, ...(isError ? { isError } : {}) };
}

/** Sallyport itself could not work. That, too, is an answer with a type and a way out (promise 8). */
export function failedResult(error: unknown): CallToolResult {
  const failure = error instanceof SallyportError ? error.toJSON() : unexpected(error);
  return toolResult({ text: failureText(failure), structured: { error: failure }, isError: true });
}

const LINE_BYTES = 200;

/** How long it has been going on, and what was written last: `12s: compiling main.c`. */
export function progressLine(elapsedMs: number, lastLine: string): string {
  const elapsed = formatDuration(Math.floor(elapsedMs / 1000) * 1000);
  const line = terminalText(lastLine).trim().split("\n").at(-1) ?? "";
  return line === "" ? elapsed : `${elapsed}: ${truncateMiddle(line, { maxBytes: LINE_BYTES }).text}`;
}

/** Often enough to show that something is going on, and to keep a client from giving up. */
const EVERY_MS = 1000;

export interface Progress {
  report(news: { lastLine: string }): void;
  stop(): void;
}

/** Tells a client that asked for it how long its call has been going on, and the last line that was written. */
export function tellProgress({ mcpReq }: ServerContext): Progress | null {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return null;
  const from = performance.now();
  let last = "";
  // A client that reads slowly is not sent more than it can take.
  let sending = false;
  const timer = setInterval(() => {
    if (sending || mcpReq.signal.aborted) return;
    sending = true;
    const elapsedMs = performance.now() - from;
    const params = { progressToken: token, progress: elapsedMs / 1000, message: progressLine(elapsedMs, last) };
    mcpReq
      .notify({ method: "notifications/progress", params })
      .catch(() => {})
      .finally(() => {
        sending = false;
      });
  }, EVERY_MS);
  return {
    report({ lastLine }) {
      last = lastLine;
    },
    stop: () => clearInterval(timer),
  };
}

/** As many as may be configured (`limits.sessions`). */
const MOST_LIVING = 10_000;

/** One `tools/call` from the request to its answer. */
export async function callTool(
  door: Door,
  connection: Connection,
  server: Server,
  { params }: CallToolRequest,
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  let tool: Tool | null;
  try {
    tool = await door.shelf.find(params.name);
  } catch (error) {
    return failedResult(error); // the gateway cannot be opened
  }
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(params.name));
  return serveCall(door, connection, server, ctx, tool, params.arguments ?? {});
}

async function serveCall(
  door: Door,
  connection: Connection,
  server: Server,
  ctx: ServerContext,
  tool: Tool,
  args: unknown,
): Promise<CallToolResult | InputRequiredResult> {
  const { patienceMs, onDisconnect } = door.options;
  const stopped = new AbortController();
  const signal = AbortSignal.any([ctx.mcpReq.signal, stopped.signal]);
  const desk =
    connection.hostUser === null ? NOBODY : hostDesk(server, ctx, connection.hostUser, () => stopped.abort());
  const call: Call = { ask: desk.ask, started: [] };

  const asked = performance.now();
  // What only looks at sessions or ends them must not queue up behind those that start some.
  const leave = tool.operation === "run" ? await door.turnstile.enter(signal, patienceMs) : () => {};
  const progress = tellProgress(ctx);
  try {
    const left = Math.max(0, patienceMs - (performance.now() - asked));
    const context = { signal, patienceMs: Math.round(left), onProgress: progress?.report };
    const answer = await inCall(call, () => tool.call(args, context));
    return desk.question() ?? toolResult(answer);
  } catch (error) {
    const question = desk.question();
    if (question) return question;
    if (ctx.mcpReq.signal.aborted) throw error; // nobody waits for an answer any more
    return failedResult(error);
  } finally {
    progress?.stop();
    leave();
    if (onDisconnect === "end") await keepInMind(door, connection, call);
  }
}

async function keepInMind(door: Door, connection: Connection, { started }: Call): Promise<void> {
  if (started.length === 0) return;
  const gateway = await door.gateway();
  const living = gateway.list({ agent: door.options.agent, live: true, limit: MOST_LIVING });
  for (const { id } of living) if (started.includes(id)) connection.keepInMind(id);
}
