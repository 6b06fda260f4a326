import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { packageVersion } from "../core/version.ts";
import { shownLine } from "../text/visible.ts";
import type { AgentContext } from "./agent-context.ts";
import type { Connection } from "./connection.ts";
import { sessionUri } from "./resource-uri.ts";

/** The same promise for every caller: an `import()` is looked up anew each time, which a call would pay for. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

/** What a model is told about the server as a whole. */
function instructions(workspace: string): string {
  return [
    `Commands run on this machine, in ${shownLine(workspace)} unless they say otherwise. Each is judged before it runs:`,
    "what is refused names a rule, and writing it differently does not help.",
    "What needs a person's approval waits for them; if they have not decided in time the answer says so, and calling the",
    "same again waits on.",
    "A command that takes longer than a call may runs on as a session, and the answer says how to wait for it.",
    "Sessions and their output are also resources: sallyport://session/{id} and its /output, /stdout and /stderr.",
  ].join(" ");
}

const MAX_SUBSCRIPTIONS = 1000;

/** Loaded with the first request that needs them: a client is greeted without. */
const calls = once(() => import("./call-tool.ts"));
const lists = once(() => import("./resources.ts"));
const reads = once(() => import("./resources.ts"));
const owned = once(() => import("./resources.ts"));

/** The protocol's side of one agent's agentContext: each method is a line that says who answers it. */
export function createServer(agentContext: AgentContext, connection: Connection): Server {
  const server = new Server(
    { name: "sallyport", title: "Sallyport", version: packageVersion() },
    {
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
      instructions: instructions(agentContext.options.workspace),
    },
  );
  server.setRequestHandler("tools/list", async () => ({ tools: await agentContext.tools.list() }));
  server.setRequestHandler("tools/call", (request, ctx) =>
    connection.track(calls().then(({ callTool }) => callTool(agentContext, connection, server, request, ctx))),
  );
  server.setRequestHandler("resources/list", async ({ params }) =>
    (await lists()).listResources(agentContext, params?.cursor),
  );
  server.setRequestHandler("resources/templates/list", async () => (await lists()).listTemplates());
  server.setRequestHandler("resources/read", async ({ params }) =>
    (await reads()).readResource(agentContext, params.uri),
  );
  return server;
}

/** What a connection that lasts is told by itself: tools that come and go, and the growth of what it subscribed to. */
export function sendNotifications(
  server: Server,
  agentContext: AgentContext,
  connection: Connection,
): { watchAll(): void } {
  const { subscribed } = connection;
  const stops = [agentContext.tools.onChange(() => void server.sendToolListChanged().catch(() => {}))];
  const tell = (uri: string) => void server.sendResourceUpdated({ uri }).catch(() => {});
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
      if (asked !== undefined) tell(asked);
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
  // From 2026-07-28 on the SDK keeps the subscriptions, and lets through what was subscribed to.
  return { watchAll: () => watch(tell) };
}

function tooMany(): ProtocolError {
  const message = `A connection may subscribe to ${MAX_SUBSCRIPTIONS} resources; unsubscribe from some first.`;
  return new ProtocolError(ProtocolErrorCode.InvalidRequest, message);
}
