import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Tool } from "../toolsets/tool.ts";
import { hostDesk, NOBODY } from "./ask-host.ts";
import { type Call, inCall } from "./call.ts";
import type { Connection } from "./connection.ts";
import type { Door } from "./door.ts";
import { unknownTool } from "./messages.ts";
import { tellProgress } from "./progress.ts";
import { failedResult, toolResult } from "./tool-result.ts";

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
