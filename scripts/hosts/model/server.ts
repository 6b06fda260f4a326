import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { anthropic } from "./anthropic.ts";
import type { Answer, Conversation, Format, Json } from "./conversation.ts";
import { gemini } from "./gemini.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";

const FORMATS: Format[] = [openaiChat, openaiResponses, anthropic, gemini];
const MODEL = "stand-in";

/** Decides on the next answer of the model. */
type Next = (conversation: Conversation) => Promise<Answer>;

/** One request that reached the stand-in, for the report of a failure. */
export interface ModelRequest {
  method: string;
  path: string;
  tools: string[];
  body: Json;
}

export interface ModelServer {
  /** Base URL without a trailing slash. */
  url: string;
  requests: ModelRequest[];
  close: () => Promise<void>;
}

/**
 * Serves the model APIs of the hosts on loopback. `next` decides on the answer; requests without tools, which hosts send
 * for titles and summaries, get a short text.
 */
export async function serveModel(next: Next): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    respond(request, response, next, requests).catch((error: Error) => {
      response.writeHead(500).end(JSON.stringify({ error: { message: error.message } }));
    });
  });
  // Hosts may ask to switch to a WebSocket. They fall back to plain requests.
  server.on("upgrade", (_request, socket) => socket.end("HTTP/1.1 426 Upgrade Required\r\n\r\n"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  next: Next,
  requests: ModelRequest[],
): Promise<void> {
  const path = new URL(request.url ?? "/", "http://model").pathname;
  const sent = await text(request);
  const body: Json = sent.startsWith("{") ? JSON.parse(sent) : {};
  const format = FORMATS.find((one) => one.path.test(path));
  const conversation = format?.read(body, path);
  requests.push({ method: request.method ?? "", path, tools: conversation?.tools ?? [], body });
  if (!format || !conversation) {
    const other = otherAnswer(path);
    sendJson(response, other ? 200 : 404, other ?? { error: { message: `the stand-in model has no ${path}` } });
    return;
  }
  const answer = conversation.tools.length === 0 ? { text: "ok" } : await next(conversation);
  const model = String(body.model ?? MODEL);
  if (!conversation.stream) {
    sendJson(response, 200, format.whole(answer, model));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (const { event, data } of format.events(answer, model)) {
    if (event !== undefined) response.write(`event: ${event}\n`);
    response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}

/** Requests that generate nothing: lists of models and counts of tokens. */
function otherAnswer(path: string): object | null {
  if (path.endsWith("/models")) {
    return { object: "list", data: [{ id: MODEL, object: "model", created: 0, owned_by: MODEL }], models: [] };
  }
  if (path.endsWith("/count_tokens")) return { input_tokens: 100 };
  if (path.endsWith(":countTokens")) return { totalTokens: 100 };
  return null;
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
