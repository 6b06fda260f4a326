import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Front, type FrontOptions, PATH } from "./handler.ts";

/** Sockets, of whoever connects. */
const MOST_CONNECTIONS = 1024;
/** How long answers that are being written may take when the server stops. */
const LAST_ANSWERS_MS = 5000;

export interface HttpOptions extends FrontOptions {
  host: string;
  port: number;
}

export interface HttpServing {
  url: string;
  close(): Promise<void>;
}

/** Serves every agent that has a token. Rejects when the address is not to be had. */
export async function serveHttp(options: HttpOptions): Promise<HttpServing> {
  const front = new Front(options);
  const server = createServer((request, response) => void front.answer(request, response));
  server.maxConnections = MOST_CONNECTIONS;
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
      await front.close();
      const late = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
      server.closeIdleConnections();
      await closed;
      clearTimeout(late);
    },
  };
}
