import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { unknownTool } from "../../present/mcp-messages.ts";
import { hostDesk, NOBODY } from "./ask-host.ts";
import { type Call, inCall } from "./call.ts";
import type { Connection } from "./connection.ts";
import type { Door } from "./door.ts";
import { tellProgress } from "./progress.ts";
import { failedResult, toolResult } from "./tool-result.ts";

/** One `tools/call` from the request to its answer. */
export async function callTool(
  door: Door,
  connection: Connection,
  server: Server,
  { params }: CallToolRequest,
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const tool = await door.shelf.find(params.name);
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(params.name));
  const { patienceMs } = door.options;
  const stopped = new AbortController();
  const signal = AbortSignal.any([ctx.mcpReq.signal, stopped.signal]);
  const desk =
    connection.hostUser === null ? NOBODY : hostDesk(server, ctx, connection.hostUser, () => stopped.abort());
  const call: Call = { ask: desk.ask, started: [] };

  const leave = await door.turnstile.enter(signal);
  const progress = tellProgress(ctx);
  try {
    const context = { signal, patienceMs, onProgress: progress?.report };
    const answer = await connection.track(inCall(call, () => tool.call(params.arguments ?? {}, context)));
    return desk.question() ?? toolResult(answer);
  } catch (error) {
    const question = desk.question();
    if (question) return question;
    if (ctx.mcpReq.signal.aborted) throw error; // nobody waits for an answer any more
    return failedResult(error);
  } finally {
    progress?.stop();
    leave();
    if (door.options.onDisconnect === "end") await keepInMind(door, connection, call);
  }
}

async function keepInMind(door: Door, connection: Connection, { started }: Call): Promise<void> {
  const gateway = await door.gateway();
  for (const id of started) {
    const { status, lingering } = gateway.session(id).info();
    if (status === "running" || lingering) connection.keepInMind(id);
  }
}
