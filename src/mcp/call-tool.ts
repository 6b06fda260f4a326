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
import { formatDuration } from "../text/format.ts";
import { terminalText } from "../text/terminal/terminal-text.ts";
import { truncateMiddle } from "../text/truncate.ts";
import { failureText } from "../toolsets/failures.ts";
import { forModel } from "../toolsets/next-steps.ts";
import type { Tool, ToolAnswer } from "../toolsets/tool.ts";
import { type AgentContext, type Call, inCall } from "./agent-context.ts";
import type { Connection } from "./connection.ts";
import { hostApproval, NO_HOST } from "./elicitation.ts";
import { unexpected, unknownTool } from "./errors.ts";
import { logOperation } from "./log-messages.ts";

/** Returns the result as text for the model and, if requested, as structured content for programs. */
function toolResult({ options }: AgentContext, { text, structured, isError }: ToolAnswer): CallToolResult {
  return {
    content: [{ type: "text", text }],
    ...(options.structured ? { structuredContent: structured } : {}),
    ...(isError ? { isError } : {}),
  };
}

/** Returns the result for an error of Sallyport itself, with its type and recovery hints (invariant 8). */
function failedResult(agentContext: AgentContext, error: unknown): CallToolResult {
  const failure = forModel(error instanceof SallyportError ? error.toJSON() : unexpected(error));
  return toolResult(agentContext, { text: failureText(failure), structured: { error: failure }, isError: true });
}

const LINE_BYTES = 200;

/** Formats the elapsed time and the last line of output: `12s: compiling main.c`. */
function progressLine(elapsedMs: number, lastLine: string): string {
  const elapsed = formatDuration(Math.floor(elapsedMs / 1000) * 1000);
  const line = terminalText(lastLine).trim().split("\n").at(-1) ?? "";
  return line === "" ? elapsed : `${elapsed}: ${truncateMiddle(line, { maxBytes: LINE_BYTES }).text}`;
}

/** Interval of progress notifications, which also keep a client from timing out. */
const INTERVAL_MS = 1000;

interface Progress {
  report(news: { lastLine: string }): void;
  stop(): void;
}

/** Sends progress notifications if the client has requested them. */
function reportProgress({ mcpReq }: ServerContext): Progress | null {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return null;
  const from = performance.now();
  let last = "";
  // Only one notification is in flight, so that none pile up for a slow client.
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

/** The maximum of `limits.sessions`. */
const MAX_LIVE = 10_000;

/** Handles a `tools/call` request. */
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
    return failedResult(agentContext, error); // the gateway cannot be opened
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
  const { hostUser } = connection;
  const approval =
    hostUser === null
      ? NO_HOST
      : hostApproval(server, ctx, { who: hostUser, sent: agentContext.sentForms, stop: () => stopped.abort() });
  const call: Call = {
    ask(asked, until) {
      progress?.report({ lastLine: "waiting for a person's approval" });
      return approval.ask(asked, until);
    },
    started: [],
    notify(operation, session) {
      const telling = agentContext
        .gateway()
        .then((gateway) => logOperation(gateway, ctx, connection, { operation, tool: tool.name, session }));
      told.push(telling.catch(() => {})); // Best effort: the client may have disconnected.
    },
  };
  // A client gets the messages of a call before its result.
  const told: Promise<void>[] = [];

  const asked = performance.now();
  // Only calls that start commands wait for a slot, so that others, such as stopping a session, are never delayed.
  const release = tool.operation === "run" ? await agentContext.startLimiter.acquire(signal, answerWithinMs) : () => {};
  const progress = reportProgress(ctx);
  try {
    const left = Math.max(0, answerWithinMs - (performance.now() - asked));
    const context = { signal, answerWithinMs: Math.round(left), onProgress: progress?.report };
    const answer = await inCall(call, () => tool.call(args, context));
    await Promise.all(told);
    return approval.question() ?? toolResult(agentContext, answer);
  } catch (error) {
    const question = approval.question();
    if (question) return question;
    if (ctx.mcpReq.signal.aborted) throw error; // the client no longer waits for the result
    return failedResult(agentContext, error);
  } finally {
    progress?.stop();
    release();
    if (onDisconnect === "end") await addBackground(agentContext, connection, call);
  }
}

async function addBackground(agentContext: AgentContext, connection: Connection, { started }: Call): Promise<void> {
  if (started.length === 0) return;
  const gateway = await agentContext.gateway();
  const running = gateway.list({ agent: agentContext.options.agent, live: true, limit: MAX_LIVE });
  for (const { id } of running) if (started.includes(id)) connection.addBackground(id);
}
