import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Received {
  method: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

/** A web server on the loopback interface that records requests and responds with a given status, or never. */
export class Receiver {
  readonly received: Received[] = [];
  answers: (number | "never")[] = [];
  port = 0;
  #server: Server | null = null;

  async listen(): Promise<string> {
    this.#server = createServer(async (request, response) => {
      const { method, headers } = request;
      this.received.push({ method, headers, body: await text(request), at: Date.now() });
      const answer = this.answers.shift() ?? 204;
      if (answer === "never") return;
      response.writeHead(answer, answer === 302 ? { location: "/elsewhere" } : {}).end("thanks");
    });
    this.#server.listen(this.port, "127.0.0.1");
    await once(this.#server, "listening");
    this.port = (this.#server.address() as AddressInfo).port;
    return `http://127.0.0.1:${this.port}/hook`;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
