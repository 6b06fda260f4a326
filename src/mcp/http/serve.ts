import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type HandlerOptions, HttpHandler, PATH } from "./handler.ts";
import { limitSockets } from "./sockets.ts";

/** Maximum number of open sockets. */
const MAX_CONNECTIONS = 1024;
/** How long open responses may take to finish when the server stops. */
const CLOSE_TIMEOUT_MS = 5000;

interface HttpOptions extends HandlerOptions {
  host: string;
  port: number;
}

interface HttpServing {
  url: string;
  close(): Promise<void>;
}

/** Serves all agents that have a token. Rejects when it cannot listen on the address. */
export async function serveHttp(options: HttpOptions): Promise<HttpServing> {
  const handler = new HttpHandler(options);
  const server = createServer((request, response) => void handler.handle(request, response));
  limitSockets(server, MAX_CONNECTIONS);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  server.on("error", options.onfailure);
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}${PATH}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      await handler.close();
      const late = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      server.closeIdleConnections();
      await closed;
      clearTimeout(late);
    },
  };
}
