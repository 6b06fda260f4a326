import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import type { AgentContext } from "./agent-context.ts";
import type { Connection } from "./connection.ts";
import { CAPABILITIES, instructions, serverInfo } from "./handshake.ts";
import { sessionUri } from "./resource-uri.ts";

/** Caches a promise. Evaluating `import()` for every request would be slower. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

const MAX_SUBSCRIPTIONS = 1000;

// Loaded by the first request that needs them, so that they do not delay the handshake.
const calls = once(() => import("./call-tool.ts"));
const lists = once(() => import("./resources.ts"));
const reads = once(() => import("./resources.ts"));
const owned = once(() => import("./resources.ts"));

/** Creates the MCP server for one connection of an agent. */
export function createServer(agentContext: AgentContext, connection: Connection): Server {
  const server = new Server(serverInfo(), {
    capabilities: CAPABILITIES,
    instructions: instructions(agentContext.options),
  });
  server.setRequestHandler("tools/list", async () => ({ tools: await agentContext.tools.list() }));
  server.setRequestHandler("tools/call", (request, ctx) =>
    connection.track(calls().then(({ callTool }) => callTool(agentContext, connection, server, request, ctx))),
  );
  // Replaces the handler of the SDK, which sends every message to a client that did not ask for any.
  server.setRequestHandler("logging/setLevel", async ({ params }) => {
    connection.logLevel = params.level;
    return {};
  });
  server.setRequestHandler("resources/list", async ({ params }) =>
    (await lists()).listResources(agentContext, params?.cursor),
  );
  server.setRequestHandler("resources/templates/list", async () => (await lists()).listTemplates());
  server.setRequestHandler("resources/read", async ({ params }) =>
    (await reads()).readResource(agentContext, params.uri),
  );
  return server;
}

/** Sends notifications on a lasting connection: changes of the tool list and of subscribed resources. */
export function sendNotifications(
  server: Server,
  agentContext: AgentContext,
  connection: Connection,
): { watchAll(): void } {
  const { subscribed } = connection;
  const stops = [agentContext.tools.onChange(() => void server.sendToolListChanged().catch(() => {}))];
  const notify = (uri: string) => void server.sendResourceUpdated({ uri }).catch(() => {});
  let watching = false;
  const watch = (listener: (uri: string) => void) => {
    if (!watching) stops.push(agentContext.watcher.listen(listener));
    watching = true;
  };
  server.setRequestHandler("resources/subscribe", async ({ params }) => {
    const { address } = await (await owned()).findOwnSession(agentContext, params.uri);
    if (subscribed.size >= MAX_SUBSCRIPTIONS) throw tooMany();
    subscribed.set(sessionUri(address.id, address.part ?? undefined), params.uri);
    watch((uri) => {
      const asked = subscribed.get(uri);
      if (asked !== undefined) notify(asked);
    });
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", async ({ params }) => {
    for (const [uri, asked] of subscribed) if (asked === params.uri) subscribed.delete(uri);
    return {};
  });
  server.onclose = () => {
    for (const stop of stops) stop();
  };
  // Since protocol version 2026-07-28, the SDK manages subscriptions and filters notifications.
  return { watchAll: () => watch(notify) };
}

function tooMany(): ProtocolError {
  const message = `Too many subscriptions. The limit is ${MAX_SUBSCRIPTIONS} per connection; unsubscribe from some first.`;
  return new ProtocolError(ProtocolErrorCode.InvalidRequest, message);
}
