/** Messages for the host's user about operations whose permission is `notify`, as MCP log messages. */
import { LOG_LEVEL_META_KEY, type ServerContext } from "@modelcontextprotocol/server";
import type { Gateway } from "../gateway/gateway.ts";
import { maskText } from "../text/secrets.ts";
import { listedCommand } from "../toolsets/result-text.ts";

/** The levels of the MCP specification, from the least to the most severe. */
export const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The level of these messages: normal but significant events. */
const LEVEL: LogLevel = "notice";

/**
 * Returns the level from which the client wants log messages, or null when it did not ask for any. Since protocol
 * version 2026-07-28 each request has its own level.
 */
function wantedLevel({ mcpReq: { envelope } }: ServerContext, ofConnection: LogLevel | null): LogLevel | null {
  if (!envelope) return ofConnection;
  return (envelope as Record<string, LogLevel | undefined>)[LOG_LEVEL_META_KEY] ?? null;
}

interface Operation {
  operation: string;
  tool: string;
  session: string;
}

/** Sends a message about an operation on a session, if the client asked for messages of this level. */
export async function logOperation(
  gateway: Gateway,
  ctx: ServerContext,
  { logLevel }: { logLevel: LogLevel | null },
  { operation, tool, session }: Operation,
): Promise<void> {
  const wanted = wantedLevel(ctx, logLevel);
  if (wanted === null || LOG_LEVELS.indexOf(LEVEL) < LOG_LEVELS.indexOf(wanted)) return;
  const { command, args } = gateway.session(session).info();
  const data = { operation, tool, session_id: session, command: maskText(listedCommand(command, args)) };
  await ctx.mcpReq.notify({ method: "notifications/message", params: { level: LEVEL, logger: "sallyport", data } });
}
