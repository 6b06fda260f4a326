import { Agent, get, type IncomingMessage, request } from "node:http";
import { WebSocket } from "ws";

const kept = new Agent({ keepAlive: true, maxSockets: 4 });

/** Sends a request over a persistent connection, with minimal overhead, so that measurements reflect the service. */
export async function ask(url: string, headers: Record<string, string>, body?: unknown): Promise<string> {
  const answered = Promise.withResolvers<IncomingMessage>();
  const text = body === undefined ? undefined : JSON.stringify(body);
  const asking = request(
    url,
    {
      agent: kept,
      method: text === undefined ? "GET" : "POST",
      headers: { ...headers, ...(text === undefined ? {} : { "content-type": "application/json" }) },
    },
    answered.resolve,
  );
  asking.on("error", answered.reject);
  asking.end(text);
  const response = await answered.promise;
  let answer = "";
  for await (const piece of response.setEncoding("utf8")) answer += piece;
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode} ${answer.slice(0, 300)}`);
  return answer;
}

export interface OpenStream {
  close(): void;
}

/** Reads an event stream as a browser does and calls `tell` with the type and data of each event. */
export function listen(
  url: string,
  headers: Record<string, string>,
  tell: (type: string, data: string) => void,
): Promise<OpenStream> {
  const opened = Promise.withResolvers<OpenStream>();
  const asking = get(url, { headers, agent: false }, (response) => {
    if (response.statusCode !== 200) {
      opened.reject(new Error(`${url}: ${response.statusCode}`));
      return;
    }
    let text = "";
    response.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        const [, type, data] = /^event: (.*)\ndata: (.*)$/m.exec(block) ?? [];
        if (type !== undefined) tell(type, data ?? "");
      }
    });
    opened.resolve({ close: () => asking.destroy() });
  });
  asking.on("error", opened.reject);
  return opened.promise;
}

/** Opens a terminal viewer that acknowledges its messages. Resolves with the first output. */
export function view(url: string, headers: Record<string, string>): Promise<WebSocket> {
  const shown = Promise.withResolvers<WebSocket>();
  const socket = new WebSocket(url.replace(/^http/, "ws"), { headers });
  socket.on("error", shown.reject);
  socket.on("message", (data: Buffer, isBinary) => {
    if (!isBinary) return;
    socket.send(JSON.stringify({ type: "ack", bytes: data.length }));
    shown.resolve(socket);
  });
  return shown.promise;
}
