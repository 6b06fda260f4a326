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
import { type AgentContext, type Call, inCall } from "./agent-context.ts";
import type { Connection } from "./connection.ts";
import { hostApproval, NO_HOST } from "./elicitation.ts";
import { unexpected, unknownTool } from "./errors.ts";

/** Text for a model, the same as data for a program. */
function toolResult({ text, structured, isError }: ToolAnswer): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: structured, ...(isError ? { isError } : {}) };
}

/** Sallyport itself could not work. That, too, is an answer with a type and a way out (promise 8). */
function failedResult(error: unknown): CallToolResult {
  const failure = error instanceof SallyportError ? error.toJSON() : unexpected(error);
  return toolResult({ text: failureText(failure), structured: { error: failure }, isError: true });
}

const LINE_BYTES = 200;

/** How long it has been going on, and what was written last: `12s: compiling main.c`. */
function progressLine(elapsedMs: number, lastLine: string): string {
  const elapsed = formatDuration(Math.floor(elapsedMs / 1000) * 1000);
  const line = terminalText(lastLine).trim().split("\n").at(-1) ?? "";
  return line === "" ? elapsed : `${elapsed}: ${truncateMiddle(line, { maxBytes: LINE_BYTES }).text}`;
}

/** Often enough to show that something is going on, and to keep a client from giving up. */
const INTERVAL_MS = 1000;

interface Progress {
  report(news: { lastLine: string }): void;
  stop(): void;
}

/** Tells a client that asked for it how long its call has been going on, and the last line that was written. */
function reportProgress({ mcpReq }: ServerContext): Progress | null {
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
  }, INTERVAL_MS);
  return {
    report({ lastLine }) {
      last = lastLine;
    },
    stop: () => clearInterval(timer),
  };
}

/** As many as may be configured (`limits.sessions`). */
const MAX_LIVE = 10_000;

/** One `tools/call` from the request to its answer. */
export async function callTool(
  agentContext: AgentContext,
  connection: Connection,
  server: Server,
  { params }: CallToolRequest,
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  let tool: Tool | null;
  try {
    tool = await agentContext.tools.find(params.name);
  } catch (error) {
    return failedResult(error); // the gateway cannot be opened
  }
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(params.name));
  return runTool(agentContext, connection, server, ctx, tool, params.arguments ?? {});
}

async function runTool(
  agentContext: AgentContext,
  connection: Connection,
  server: Server,
  ctx: ServerContext,
  tool: Tool,
  args: unknown,
): Promise<CallToolResult | InputRequiredResult> {
  const { answerWithinMs, onDisconnect } = agentContext.options;
  const stopped = new AbortController();
  const signal = AbortSignal.any([ctx.mcpReq.signal, stopped.signal]);
  const approval =
    connection.hostUser === null ? NO_HOST : hostApproval(server, ctx, connection.hostUser, () => stopped.abort());
  const call: Call = { ask: approval.ask, started: [] };

  const asked = performance.now();
  // What only looks at sessions or ends them must not queue up behind those that start some.
  const release = tool.operation === "run" ? await agentContext.startLimiter.acquire(signal, answerWithinMs) : () => {};
  const progress = reportProgress(ctx);
  try {
    const left = Math.max(0, answerWithinMs - (performance.now() - asked));
    const context = { signal, answerWithinMs: Math.round(left), onProgress: progress?.report };
    const answer = await inCall(call, () => tool.call(args, context));
    return approval.question() ?? toolResult(answer);
  } catch (error) {
    const question = approval.question();
    if (question) return question;
    if (ctx.mcpReq.signal.aborted) throw error; // nobody waits for an answer any more
    return failedResult(error);
  } finally {
    progress?.stop();
    release();
    if (onDisconnect === "end") await addBackground(agentContext, connection, call);
  }
}

async function addBackground(agentContext: AgentContext, connection: Connection, { started }: Call): Promise<void> {
  if (started.length === 0) return;
  const gateway = await agentContext.gateway();
  const living = gateway.list({ agent: agentContext.options.agent, live: true, limit: MAX_LIVE });
  for (const { id } of living) if (started.includes(id)) connection.addBackground(id);
}
